//go:build unix

package gc_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
)

// replace puts something in place of a file or directory of the working tree.
func (f *fixture) replace(name string, put func(at string) error) {
	f.tb.Helper()
	at := f.Path(name)
	if err := os.RemoveAll(at); err != nil {
		f.tb.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		f.tb.Fatal(err)
	}
	if err := put(at); err != nil {
		f.tb.Fatal(err)
	}
}

func pipe(at string) error { return syscall.Mkfifo(at, 0o600) }

func folder(at string) error { return os.Mkdir(at, 0o700) }

func file(at string) error { return os.WriteFile(at, []byte("../elsewhere"), 0o600) }

func dangling(at string) error { return os.Symlink("/nowhere/at/all", at) }

func looping(at string) error { return os.Symlink(filepath.Base(at), at) }

// socket listens at a path by its short name: the length of a socket's path is limited.
func socket(at string) error {
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	defer os.RemoveAll(short) // a directory of tests
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short + "/s", Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		return err
	}
	return os.Rename(short+"/s", at)
}

// TestRefusalsOfFileTypes puts what is neither a file nor a directory in each place that has
// streams: the stream that was there referred to content, and may be back.
func TestRefusalsOfFileTypes(t *testing.T) {
	const events = conversation + "/events.json"
	const archived = ".jp/conversations/.archive"
	for _, tt := range []struct {
		name   string
		at     string
		put    func(at string) error
		reason string
	}{
		{"stream, pipe", events, pipe, gc.ReasonIrregular},
		{"stream, socket", events, socket, gc.ReasonIrregular},
		{"stream, directory", events, folder, gc.ReasonIrregular},
		{"stream, dangling link", events, dangling, gc.ReasonLinked},
		{"stream, looping link", events, looping, gc.ReasonLinked},
		{"stream in other case, pipe", conversation + "/EVENTS.JSON", pipe, gc.ReasonIrregular},
		{"archived stream, pipe", archived + "/17800000001-one/events.json", pipe, gc.ReasonIrregular},
		{"stream that is being written, pipe", ".jp/blobs/.tmp/x/events.json", pipe, gc.ReasonIrregular},
		{"conversation, pipe", conversation, pipe, gc.ReasonIrregular},
		{"conversation, file", conversation, file, gc.ReasonIrregular},
		{"conversation, dangling link", conversation, dangling, gc.ReasonLinked},
		{"archived conversation, socket", archived + "/17800000001-one", socket, gc.ReasonIrregular},
		{"archive, pipe", archived, pipe, gc.ReasonIrregular},
		{"archive, file", archived, file, gc.ReasonIrregular},
		{"archive, dangling link", archived, dangling, gc.ReasonLinked},
		{"conversations, pipe", ".jp/conversations", pipe, gc.ReasonIrregular},
		{"conversations, file", ".jp/conversations", file, gc.ReasonIrregular},
		{"conversations, dangling link", ".jp/conversations", dangling, gc.ReasonLinked},
		{"conversations, looping link", ".jp/conversations", looping, gitint.ReasonUnreadable},
		{"temporary files, pipe", ".jp/blobs/.tmp", pipe, gc.ReasonIrregular},
		{"temporary files, file", ".jp/blobs/.tmp", file, gc.ReasonIrregular},
		{"temporary files, dangling link", ".jp/blobs/.tmp", dangling, gc.ReasonLinked},
		{"id, pipe", ".jp/.id", pipe, gc.ReasonIrregular},
		{"quarantined file, pipe", ".git/jp/trash/repair-1/events.json", pipe, gc.ReasonIrregular},
		{"quarantine, file", ".git/jp/trash", file, gc.ReasonIrregular},
		{"quarantine, pipe", ".git/jp/trash", pipe, gc.ReasonIrregular},
		{"fan-out directory, pipe", ".jp/blobs/aa", pipe, gc.ReasonForeign},
		{"record of a conflict, pipe", ".git/jp/conflicts/1.json", pipe, gc.ReasonIrregular},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			newFixture(t).refuses(func(f *fixture) {
				f.replace(tt.at, tt.put)
			}, tt.reason, filepath.Base(tt.at))
		})
	}
	t.Run("another worktree", func(t *testing.T) {
		t.Parallel()
		newFixture(t).refuses(func(f *fixture) {
			f.Run("worktree", "add", "-q", "../linked")
			f.at("../linked").workspace("")
			f.at("../linked").replace(events, pipe)
		}, gc.ReasonIrregular, `worktree "linked":`+events)
	})
}

// TestRefusalsOfModes puts a link, a submodule and a directory in place of a stream in the index
// and in a branch. Those of older commits are no obstacle: they stay as they are for ever.
func TestRefusalsOfModes(t *testing.T) {
	const events = conversation + "/events.json"
	for name, stage := range map[string]func(f *fixture){
		"link": func(f *fixture) {
			id := f.Blob("[]")
			f.Run("update-index", "--add", "--cacheinfo", "120000,"+id+","+events)
		},
		"submodule": func(f *fixture) {
			f.Run("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+","+events)
		},
		"directory": func(f *fixture) {
			id := f.Blob("[]")
			f.Run("update-index", "--add", "--cacheinfo", "100644,"+id+","+events+"/x")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newFixture(t).refuses(stage, gc.ReasonIrregular, "index of the main worktree:"+events)
			newFixture(t).refuses(func(f *fixture) {
				stage(f)
				f.Run("branch", "other", f.Run("commit-tree", "-m", "x", f.Run("write-tree")))
				f.Run("read-tree", "HEAD")
			}, gc.ReasonIrregular, "refs/heads/other:"+events)
			f := newFixture(t)
			dead := f.blob("dead")
			stage(f)
			old := f.Run("commit-tree", "-m", "x", f.Run("write-tree"))
			f.Run("read-tree", "HEAD")
			f.Run("branch", "other", f.Run("commit-tree", "-m", "x", "-p", old, "HEAD^{tree}"))
			if _, err := f.collect(); err != nil || f.has(dead) {
				t.Errorf("with an old one: %v", err)
			}
		})
	}
}

// TestTypesThatHoldNothing leaves a collection possible beside files that are not streams.
func TestTypesThatHoldNothing(t *testing.T) {
	f := newFixture(t)
	dead, kept := f.blob("dead"), f.blob("kept")
	f.converse(conversation, kept)
	f.replace(conversation+"/note", pipe)
	f.replace(".jp/conversations/.trash/17800000001-one/events.json", pipe)
	if _, err := f.collect(); err != nil {
		t.Fatal(err)
	}
	if f.has(dead) || !f.has(kept) {
		t.Error("the wrong blob was deleted")
	}
}
