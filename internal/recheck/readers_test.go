package recheck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/recheck"
)

// opinion returns a second opinion about the fixture's repository.
func (f *fixture) opinion(history bool) (map[blobs.Hash]recheck.Finding, error) {
	f.tb.Helper()
	p := recheck.New(f.options())
	if history {
		return p.Uncarried(f.tb.Context())
	}
	return p.Referred(f.tb.Context())
}

// readers returns the number of git processes that read objects for one opinion.
func (f *fixture) readers() int {
	f.tb.Helper()
	log := filepath.Join(f.tb.TempDir(), "trace")
	one := *f
	one.Repository = f.With("GIT_TRACE2_EVENT=" + log)
	_, _ = one.opinion(true)
	data, err := os.ReadFile(log)
	if err != nil {
		f.tb.Fatal(err)
	}
	return strings.Count(string(data), `"cat-file","--batch-command","--buffer"]`)
}

// newPopulated returns a copy of the repository that populate makes.
func newPopulated(tb testing.TB) *fixture {
	tb.Helper()
	r := gittest.Template(tb, "populated", func(r *gittest.Repository) {
		begin(r)
		(&fixture{r, tb}).populate()
	})
	return &fixture{r, tb}
}

// populate makes a history in which streams grow and blobs come and go: branches, tags, and
// an older commit that lacks a blob.
func (f *fixture) populate() {
	f.tb.Helper()
	var long strings.Builder
	commit := f.Run("rev-parse", "HEAD")
	for n := range 12 {
		fmt.Fprintf(&long, "%d %s\n", n, blobs.Sum([]byte{byte(n)}))
		files := map[string]string{
			stream: long.String(), ".jp/blobs/" + hash.Path(): carrier,
			"sub/.jp/conversations/1-x/events.json": fmt.Sprint("[", n, "]"),
		}
		if n == 3 {
			files["sub/.jp/conversations/2-y/events.json"] = text()
		}
		commit = f.commitFiles(files, commit)
	}
	f.Run("branch", "long", commit)
	f.Run("tag", "-a", "-m", "x", "annotated", commit+"~8")
	f.Run("tag", "tree", commit+"~9:.jp")
	f.WriteFile(stream, "[]")
	f.Run("add", stream)
}

// A shape is a way in which a repository stores its objects.
type shape struct {
	name string
	make func(f *fixture)
	// fails is set if there is no opinion, and nothing if the opinion finds no hash.
	fails, nothing bool
}

func (f *fixture) repack(args ...string) { f.Run(append([]string{"repack", "-q"}, args...)...) }

// clone replaces the repository of the fixture with a clone.
func (f *fixture) clone(args ...string) {
	f.tb.Helper()
	f.Run(append(append([]string{"clone", "-q", "--mirror"}, args...),
		"file://"+f.Dir, "../clone/.git")...)
	f.Dir = f.Path("../clone")
	f.Run("config", "core.bare", "false")
}

// share moves the objects of the repository to a shared directory.
func (f *fixture) share() (objects string) {
	f.tb.Helper()
	objects = f.Path("../shared/objects")
	if err := os.MkdirAll(filepath.Dir(objects), 0o755); err != nil {
		f.tb.Fatal(err)
	}
	f.move(f.Path(".git/objects"), objects)
	f.WriteFile(".git/objects/info/x", "")
	return objects
}

func (f *fixture) move(from, to string) {
	f.tb.Helper()
	err := os.MkdirAll(filepath.Dir(to), 0o755)
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		f.tb.Fatal(err)
	}
}

// damage truncates a file.
func (f *fixture) damage(file string, size int64) {
	f.tb.Helper()
	err := os.Chmod(file, 0o600)
	if err == nil {
		err = os.Truncate(file, size)
	}
	if err != nil {
		f.tb.Fatal(err)
	}
}

// packs returns the files of the packs with an extension.
func (f *fixture) packs(ext string) []string {
	f.tb.Helper()
	all, err := filepath.Glob(f.Path(".git/objects/pack/*." + ext))
	if err != nil || len(all) == 0 {
		f.tb.Fatalf("no packs: %v", err)
	}
	return all
}

func shapes() []shape {
	return []shape{
		{name: "loose", make: func(*fixture) {}},
		{name: "packed", make: func(f *fixture) { f.repack("-ad") }},
		{name: "deep deltas", make: func(f *fixture) { f.repack("-adf", "--depth=4000") }},
		{name: "several packs", make: func(f *fixture) {
			f.repack()
			f.Run("branch", "more", f.commitFile(stream, "[1]"))
			f.repack()
		}},
		{name: "index of several packs", make: func(f *fixture) {
			f.repack("-d")
			f.Run("multi-pack-index", "write")
		}},
		{name: "index of version 1", make: func(f *fixture) {
			f.Run("config", "pack.indexVersion", "1")
			f.repack("-ad")
		}},
		{name: "pack under another name", make: func(f *fixture) {
			f.repack("-ad")
			for _, ext := range []string{"pack", "idx"} {
				f.move(f.packs(ext)[0], f.Path(".git/objects/pack/mine."+ext))
			}
		}},
		{name: "beside a commit graph", make: func(f *fixture) {
			f.Run("commit-graph", "write", "--reachable")
		}},
		{name: "replaced", make: func(f *fixture) {
			f.Run("replace", "long~2", f.commitFile(stream, text()))
		}},
		{name: "linked working tree", make: func(f *fixture) {
			f.Run("worktree", "add", "-q", "../linked", "long~4")
			f.Dir = f.Path("../linked")
		}},
		{name: "separate directory", make: func(f *fixture) {
			f.Run("init", "-q", "--separate-git-dir", "../elsewhere")
		}},
		{name: "behind a link", make: func(f *fixture) {
			f.move(f.Path(".git/objects"), f.Path("../kept"))
			f.link("../../kept", ".git/objects")
		}},
		{name: "in an alternate", make: func(f *fixture) {
			f.WriteFile(".git/objects/info/alternates", f.share()+"\n")
		}},
		{name: "in the alternate of an alternate, by a relative name", make: func(f *fixture) {
			f.share()
			f.WriteFile("../between/objects/info/alternates", "../../shared/objects\n")
			f.WriteFile(".git/objects/info/alternates", "../../../between/objects\n")
		}},
		{name: "in a directory of the environment", make: func(f *fixture) {
			f.Env = append(f.Env, "GIT_OBJECT_DIRECTORY="+f.share())
		}},
		{name: "in one of another name", make: func(f *fixture) {
			f.move(f.share(), f.Path("../store"))
			f.Env = append(f.Env, "GIT_OBJECT_DIRECTORY="+f.Path("../store"))
		}},
		{name: "in an alternate of the environment", make: func(f *fixture) {
			f.Env = append(f.Env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+f.share())
		}},
		{name: "a stream too large to be read whole", make: func(f *fixture) {
			f.Run("branch", "large", f.commitFile(stream, strings.Repeat("[]\n", 3<<20)+text()))
		}},
		{name: "more objects than pay in this process", make: func(f *fixture) {
			var in strings.Builder
			in.WriteString("commit refs/heads/many\ncommitter A <a@b> 0 +0000\ndata 1\nx\n")
			for n := range 150 {
				fmt.Fprintf(&in, "M 100644 inline .jp/conversations/%d/events.json\n"+
					"data <<E\n[%d]\nE\n", n, n)
			}
			f.RunInput(in.String(), "fast-import", "--quiet")
		}},
		{name: "shallow", make: func(f *fixture) { f.clone("--depth=2") }, nothing: true},
		{name: "promised", make: func(f *fixture) {
			f.Run("config", "uploadpack.allowFilter", "true")
			f.clone("--filter=blob:none")
		}, fails: true},
		{name: "what somebody is pushing", make: func(f *fixture) {
			f.Run("branch", "pushed", f.commitFile(stream, text()))
			id := f.Run("rev-parse", "pushed:"+stream)
			f.move(f.object("pushed:"+stream),
				f.Path(".git/objects/tmp_objdir-incoming-x/"+id[:2]+"/"+id[2:]))
		}, fails: true},
		{name: "pack without its index", make: func(f *fixture) {
			f.repack("-ad")
			f.move(f.packs("idx")[0], f.Path("../idx"))
		}, fails: true},
		{name: "torn pack", make: func(f *fixture) {
			f.repack("-ad")
			f.damage(f.packs("pack")[0], 500)
		}, fails: true},
		{name: "torn pack, beside the objects", make: func(f *fixture) {
			f.repack("-a")
			f.damage(f.packs("pack")[0], 500)
		}},
		{name: "torn index of a pack, beside the objects", make: func(f *fixture) {
			f.repack("-a")
			f.damage(f.packs("idx")[0], 500)
		}},
		{name: "torn object, beside its pack", make: func(f *fixture) {
			f.repack("-a")
			f.damage(f.object("long:"+stream), 20)
		}},
	}
}

// TestReaders checks that the opinion is the same however objects are stored, and that one git
// process reads them all.
func TestReaders(t *testing.T) {
	for _, tt := range shapes() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newPopulated(t)
			tt.make(f)
			for _, history := range []bool{false, true} {
				found, err := f.opinion(history)
				if (err != nil) != tt.fails || (len(found) == 0) != (tt.fails || tt.nothing) {
					t.Errorf("history %v: %v, %v", history, found, err)
				}
			}
			if n := f.readers(); n != 1 {
				t.Errorf("%d gits read objects, want one", n)
			}
		})
	}
}

// TestReaderThatDies ends the git that reads objects after some of its answers: however many, the
// opinion is an error.
func TestReaderThatDies(t *testing.T) {
	f := newPopulated(t)
	bin := t.TempDir()
	answers, pipe := filepath.Join(bin, "answers"), filepath.Join(bin, "pipe")
	path := "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	t.Setenv("PATH", strings.TrimPrefix(path, "PATH="))
	f.Repository = f.With(path)
	through := func(filter string) error {
		gittest.WriteProgram(t, filepath.Join(bin, "git"), `#!/bin/sh
PATH=${PATH#*:}
case " $* " in *" --batch-command "*)
	exec 3<&0
	rm -f '`+pipe+`'
	mkfifo '`+pipe+`'
	git "$@" <&3 >'`+pipe+`' 2>/dev/null &
	exec `+filter+` <'`+pipe+`' ;;
esac
exec git "$@"
`)
		_, err := f.opinion(true)
		return err
	}
	if err := through("tee '" + answers + "'"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(answers)
	if err != nil {
		t.Fatal(err)
	}
	const cuts = 8
	for i := range int64(cuts) {
		n := info.Size() * i / cuts
		if err := through(fmt.Sprintf("dd bs=1 count=%d", n)); err == nil {
			t.Errorf("no error after %d of %d bytes", n, info.Size())
		}
	}
	if err := through(fmt.Sprintf("dd bs=1 count=%d", info.Size()-1)); err == nil {
		t.Error("no error without the last byte")
	}
}
