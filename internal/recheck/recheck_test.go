package recheck_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/recheck"
)

const stream = ".jp/conversations/17800000001-one/events.json"

// hash is the hash of the content that is about to be deleted, and carrier a file with it.
var (
	hash    = blobs.Sum([]byte("content"))
	carrier = string(blobs.Encode([]byte("content")))
)

type fixture struct {
	*gittest.Repository
	tb testing.TB
}

func newFixture(tb testing.TB, initArgs ...string) *fixture {
	tb.Helper()
	return &fixture{gittest.Template(tb, "begun", begin, initArgs...), tb}
}

func begin(r *gittest.Repository) {
	r.WriteFile("readme", "x")
	r.Commit("begin")
}

// options search for the hash, and for one that occurs nowhere.
func (f *fixture) options() recheck.Options {
	return recheck.Options{
		Hashes: []blobs.Hash{blobs.Sum(nil), hash}, Dir: f.Dir, Env: f.Env,
	}
}

// referred returns where the hash was found, "" if nowhere.
func (f *fixture) referred() string {
	f.tb.Helper()
	return f.where(f.opinion(false))
}

func (f *fixture) uncarried() string {
	f.tb.Helper()
	return f.where(f.opinion(true))
}

func (f *fixture) where(found map[blobs.Hash]recheck.Finding, err error) string {
	f.tb.Helper()
	if err != nil {
		f.tb.Fatal(err)
	}
	one, ok := found[hash]
	if len(found) > 1 || !ok && len(found) > 0 {
		f.tb.Fatalf("found %v", found)
	}
	if !ok {
		return ""
	}
	return one.String()
}

// commitFiles commits some files, without a ref to the commit.
func (f *fixture) commitFiles(files map[string]string, parents ...string) string {
	f.tb.Helper()
	r := f.With("GIT_INDEX_FILE=" + filepath.Join(f.tb.TempDir(), "index"))
	for name, content := range files {
		id := f.RunInput(content, "hash-object", "-w", "--stdin")
		r.Run("update-index", "--add", "--cacheinfo", "100644,"+id+","+name)
	}
	args := []string{"commit-tree", "-m", "made", r.Run("write-tree")}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.Run(args...)
}

func (f *fixture) commitFile(name, content string, parents ...string) string {
	f.tb.Helper()
	return f.commitFiles(map[string]string{name: content}, parents...)
}

func text() string { return fmt.Sprintf(`[{"content":{"$blob":%q}}]`, hash) }

// TestReferred puts the hash in one place at a time. The matrix of package gc covers the rest.
func TestReferred(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(f *fixture)
		want string // a part of the finding; "" if nothing is found
	}{
		{"nowhere", func(f *fixture) { f.WriteFile("notes", text()) }, ""},
		{"upper case", func(f *fixture) { f.WriteFile(stream, strings.ToUpper(text())) }, stream},
		{"directory in upper case", func(f *fixture) {
			f.WriteFile(strings.ToUpper(stream), text())
		}, "EVENTS.JSON"},
		{"below node_modules", func(f *fixture) {
			f.WriteFile("node_modules/a/"+stream, text())
		}, "node_modules"},
		{"beside an empty .git", func(f *fixture) {
			f.WriteFile("sub/.git/x", "")
			f.Remove("sub/.git/x")
			f.WriteFile("sub/"+stream, text())
		}, "sub/" + stream},
		{"in another repository", func(f *fixture) {
			f.Run("init", "-q", "sub")
			f.WriteFile("sub/"+stream, text())
		}, ""},
		{"in the workspace that is a repository", func(f *fixture) {
			f.WriteFile(stream, text())
			f.Run("init", "-q", ".jp")
		}, stream},
		{"title", func(f *fixture) {
			f.WriteFile(filepath.Dir(stream)+"/metadata.json", text())
		}, "metadata.json"},
		{"beside blobs", func(f *fixture) { f.WriteFile(".jp/blobs/list", text()) }, "list"},
		{"blob", func(f *fixture) { f.WriteFile(".jp/blobs/"+hash.Path(), text()) }, ""},
		{"committed blob", func(f *fixture) {
			f.Run("branch", "other", f.commitFile(".jp/blobs/"+hash.Path(), text()))
		}, ""},
		{"committed beside blobs", func(f *fixture) {
			f.Run("branch", "other", f.commitFile(".jp/blobs/.gitignore", text()))
		}, "refs/heads/other, commit "},
		{"lock", func(f *fixture) { f.WriteFile(".jp/locks/a.lock", text()) }, ""},
		{"beyond a link", func(f *fixture) {
			f.WriteFile("kept/.jp/events.json", text())
			f.WriteFile("sub/x", "")
			f.link("../kept/.jp", "sub/.jp")
		}, "kept/.jp/events.json"},
		{"branch in upper case", func(f *fixture) {
			f.Run("branch", "other", f.commitFile("a/.JP/x.json", text()))
		}, "refs/heads/other, commit "},
		{"branch that is a part of a workspace", func(f *fixture) {
			f.Run("branch", "part", f.commitFile("conversations/1-x/events.json", text()))
		}, "conversations/1-x/events.json"},
		{"branch of conversations", func(f *fixture) {
			f.Run("branch", "part", f.commitFile("17800000001-one/events.json", text()))
		}, "17800000001-one/events.json"},
		{"note", func(f *fixture) {
			id := f.RunInput(text(), "hash-object", "-w", "--stdin")
			f.Run("notes", "add", "-C", id)
		}, "refs/notes/commits"},
		{"tag of a part", func(f *fixture) {
			c := f.commitFile(stream, text())
			f.Run("tag", "keep", c+":.jp/conversations")
		}, "refs/tags/keep"},
		{"tag that has it too", func(f *fixture) {
			f.Run("tag", "keep", f.commitFiles(map[string]string{
				stream: text(), ".jp/blobs/" + hash.Path(): carrier,
			}))
		}, ""},
		{"branch that has it too", func(f *fixture) {
			f.Run("branch", "keep", f.commitFiles(map[string]string{
				stream: text(), ".jp/blobs/" + hash.Path(): carrier,
			}))
		}, "refs/heads/keep"},
		{"index of the environment", func(f *fixture) {
			f.Env = append(f.Env, "GIT_INDEX_FILE="+f.Path("other-index"))
			f.WriteFile(stream, text())
			f.Run("add", "-f", stream)
			f.Remove(".jp")
		}, "index: " + stream},
		{"index of an open commit", func(f *fixture) {
			f.WriteFile(stream, text())
			f.With("GIT_INDEX_FILE="+f.Path(".git/index.lock")).Run("add", "-f", stream)
			f.Remove(".jp")
		}, "index: " + stream},
		{"index of an open commit of some paths, of another working tree", func(f *fixture) {
			f.Run("worktree", "add", "-q", "../linked")
			next := f.Path(".git/worktrees/linked/next-index-17.lock")
			f.WriteFile(stream, text())
			f.With("GIT_INDEX_FILE="+next).Run("add", "-f", stream)
			f.Remove(".jp")
		}, `index of working tree "linked": ` + stream},
		{"lock of the index that is one of ours", func(f *fixture) {
			f.WriteFile(".git/index.lock", "git-jp 1\n")
		}, ""},
		{"conflict in another directory", func(f *fixture) {
			id := f.RunInput(text(), "hash-object", "-w", "--stdin")
			f.RunInput("100644 "+id+" 2\ta/.Jp/b\n", "update-index", "--index-info")
		}, "index: a/.Jp/b"},
		{"run of the collector", func(f *fixture) {
			f.WriteFile(".git/jp/trash/1/run.json", "{}")
			f.WriteFile(".git/jp/trash/1/items.jsonl", text())
			f.WriteFile(".git/jp/trash/1/files/"+hash.String(), text())
			f.WriteFile(".git/jp/trash/2/tmp/items.jsonl.1", text())
		}, ""},
		{"what looks like one", func(f *fixture) {
			f.WriteFile(".git/jp/trash/1/aside.json", "{}")
			f.WriteFile(".git/jp/trash/1/run.json", "{}")
			f.WriteFile(".git/jp/trash/1/files/x", text())
		}, "the quarantine"},
		{"files without a journal", func(f *fixture) {
			f.WriteFile(".git/jp/trash/repair/files/x", text())
		}, "the quarantine"},
		{"working tree that was moved", func(f *fixture) {
			f.Run("worktree", "add", "-q", "../linked")
			f.WriteFile("../linked/"+stream, text())
			if err := os.Rename(f.Path("../linked"), f.Path("../moved")); err != nil {
				f.tb.Fatal(err)
			}
			f.Dir = f.Path("../moved")
		}, "moved/" + stream},
		{"main working tree elsewhere", func(f *fixture) {
			f.WriteFile("../elsewhere/"+stream, text())
			f.Run("worktree", "add", "-q", "../linked")
			f.Run("config", "core.worktree", "../../elsewhere")
			f.Dir = f.Path("../linked")
		}, "elsewhere/" + stream},
		{"linked working tree elsewhere", func(f *fixture) {
			f.WriteFile("../elsewhere/"+stream, text())
			f.Run("worktree", "add", "-q", "../linked")
			f.Run("config", "extensions.worktreeConfig", "true")
			f.In("../linked").Run("config", "--worktree", "core.worktree", "../../../../elsewhere")
		}, "elsewhere/" + stream},
		{"main working tree while it is bare", func(f *fixture) {
			f.WriteFile(stream, text())
			f.Run("worktree", "add", "-q", "../linked")
			f.Run("update-index", "--add", stream)
			f.Remove(".jp")
			f.Dir = f.Path("../linked")
		}, "index: " + stream},
		{"dangling symbolic ref", func(f *fixture) {
			f.Run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
		}, ""},
		{"unborn branch", func(f *fixture) { f.Run("checkout", "-q", "--orphan", "new") }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tt.make(f)
			got := f.referred()
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("found in %q, want %q", got, tt.want)
			}
		})
	}
}

func (f *fixture) link(to, name string) {
	f.tb.Helper()
	if err := os.Symlink(to, f.Path(name)); err != nil {
		f.tb.Fatal(err)
	}
}

// TestUncarried searches older commits.
func TestUncarried(t *testing.T) {
	blob := ".jp/blobs/" + hash.Path()
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" +
		strings.Repeat("a", 64) + "\nsize 12\n"
	// older commits some files and creates a branch whose tip is a child of that commit.
	older := func(f *fixture, files map[string]string) string {
		c := f.commitFiles(files)
		f.Run("branch", "other", f.commitFile("readme", "x", c))
		return c
	}
	for _, tt := range []struct {
		name string
		make func(f *fixture)
		want string
	}{
		{"carried", func(f *fixture) { older(f, map[string]string{stream: text(), blob: carrier}) }, ""},
		{
			"lacking", func(f *fixture) { older(f, map[string]string{stream: text()}) },
			"history, commit ",
		},
		{"pointer", func(f *fixture) {
			older(f, map[string]string{stream: text(), blob: pointer})
		}, "history"},
		{"encrypted", func(f *fixture) {
			older(f, map[string]string{stream: text(), blob: "\x00GITCRYPT\x00" + strings.Repeat("x", 2000)})
		}, "history"},
		{"cut", func(f *fixture) {
			older(f, map[string]string{stream: text(), blob: carrier[:len(carrier)-1]})
		}, "history"},
		{"of another blob", func(f *fixture) {
			older(f, map[string]string{stream: text(), blob: string(blobs.Encode([]byte("other")))})
		}, "history"},
		{"empty", func(f *fixture) { older(f, map[string]string{stream: text(), blob: ""}) }, "history"},
		{"in another workspace", func(f *fixture) {
			older(f, map[string]string{stream: text(), "sub/" + blob: carrier})
		}, "history"},
		{"object that is lost", func(f *fixture) {
			c := older(f, map[string]string{stream: text(), blob: carrier})
			f.lose(c + ":" + blob)
		}, "history"},
		{"then carried", func(f *fixture) {
			c := f.commitFile(stream, text())
			f.Run("branch", "other", f.commitFile("readme", "x",
				f.commitFiles(map[string]string{stream: text(), blob: carrier}, c)))
		}, "history"},
		{"other blobs of the same directory", func(f *fixture) {
			name := ".jp/blobs/" + hash.String()[:2] + "/00/" + strings.Repeat("0", 60) + ".blob.gz"
			older(f, map[string]string{stream: text(), name: "x"})
		}, "history"},
		{"reflog of another working tree", func(f *fixture) {
			f.Run("worktree", "add", "-q", "--detach", "../linked")
			l := f.In("../linked")
			l.Run("checkout", "-q", f.commitFile(stream, text()))
			l.Run("checkout", "-q", "main", "--detach")
		}, "history"},
		{"older than what a pseudo-ref names", func(f *fixture) {
			c := f.commitFile("readme", "x", f.commitFile(stream, text()))
			f.WriteFile(".git/ORIG_HEAD", c+"\n")
		}, "history"},
		{"long history", func(f *fixture) {
			c := f.commitFile(stream, text())
			var in strings.Builder
			for n := range 5000 {
				fmt.Fprintf(&in, "commit refs/heads/long\ncommitter A <a@b> %d +0000\ndata 1\nx\n", n)
				if n == 0 {
					fmt.Fprintf(&in, "from %s\n", c)
				}
				fmt.Fprintf(&in, "M 100644 inline .jp/conversations/%d/events.json\ndata 2\n[]\n"+
					"D %s\n", n%7, stream)
				fmt.Fprintf(&in, "M 100644 inline n\ndata <<E\n%d\nE\n", n)
			}
			f.RunInput(in.String(), "fast-import", "--quiet")
		}, "history"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tt.make(f)
			if got := f.referred(); got != "" {
				t.Errorf("before the move it is found in %q", got)
			}
			got := f.uncarried()
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("found in %q, want %q", got, tt.want)
			}
			if got != "" && !strings.HasSuffix(got, stream+", without its blob") {
				t.Errorf("found in %q", got)
			}
		})
	}
}

func (f *fixture) object(rev string) string {
	id := f.Run("rev-parse", rev)
	return f.Path(".git/objects/" + id[:2] + "/" + id[2:])
}

func (f *fixture) lose(rev string) {
	f.tb.Helper()
	if err := os.Remove(f.object(rev)); err != nil {
		f.tb.Fatal(err)
	}
}

// TestWhatCannotBeRead checks that anything unreadable is an error, never an absence.
func TestWhatCannotBeRead(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(f *fixture)
		want string
	}{
		{"missing commit", func(f *fixture) {
			f.Run("branch", "other", f.commitFile(stream, "[]"))
			f.lose("other")
		}, "refs/heads/other"},
		{"missing tree", func(f *fixture) {
			f.Run("branch", "other", f.commitFile(stream, "[]"))
			f.lose("other:.jp/conversations")
		}, "the object is missing"},
		{"missing file", func(f *fixture) {
			f.Run("branch", "other", f.commitFile(stream, "[]"))
			f.lose("other:" + stream)
		}, "the object is missing"},
		{"missing file of the index", func(f *fixture) {
			f.WriteFile(stream, "[]")
			f.Run("add", stream)
			f.lose(":" + stream)
			f.Remove(".jp")
		}, "the object is missing"},
		{"missing commit of the past", func(f *fixture) {
			c := f.commitFile(stream, "[]")
			f.Run("branch", "other", f.commitFile("readme", "x", c))
			f.lose(c)
		}, "rev-list"},
		{"object of another", func(f *fixture) {
			f.Run("branch", "other", f.commitFile(stream, "[]"))
			data, err := os.ReadFile(f.object("HEAD:readme"))
			if err == nil {
				f.lose("other:" + stream)
				err = os.WriteFile(f.object("other:"+stream), data, 0o600)
			}
			if err != nil {
				f.tb.Fatal(err)
			}
		}, "read object"},
		{"torn object", func(f *fixture) {
			f.Run("branch", "other", f.commitFile(stream, strings.Repeat("[]\n", 1000)))
			name := f.object("other:" + stream)
			if err := os.Chmod(name, 0o600); err != nil {
				f.tb.Fatal(err)
			}
			if err := os.Truncate(name, 20); err != nil {
				f.tb.Fatal(err)
			}
		}, "read object"},
		{"torn index", func(f *fixture) {
			f.WriteFile(stream, text())
			f.Run("add", stream)
			f.Remove(".jp")
			if err := os.Truncate(f.Path(".git/index"), 100); err != nil {
				f.tb.Fatal(err)
			}
		}, "its checksum does not match"},
		{"index of nothing", func(f *fixture) {
			f.WriteFile(".git/index", "DIRC")
		}, "its checksum does not match"},
		{"empty ref", func(f *fixture) { f.WriteFile(".git/refs/heads/torn", "") }, "broken ref"},
		{"conversations behind a link", func(f *fixture) {
			f.WriteFile("kept/events.json", text())
			f.WriteFile(".jp/conversations/x", "")
			f.link("../../kept", ".jp/conversations/1-x")
		}, "is a symbolic link"},
		{"workspace behind a link", func(f *fixture) {
			f.WriteFile("kept/x", "")
			f.link("kept", ".jp")
		}, "is a symbolic link"},
		{"no repository", func(f *fixture) { f.Remove(".git") }, "git rev-parse"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			tt.make(f)
			found, err := f.opinion(true)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v; want %q", found, err, tt.want)
			}
		})
	}
}

// TestFilesOfSomebodyElse checks that files without read permission are an error.
func TestFilesOfSomebodyElse(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	for _, name := range []string{stream, "sub"} {
		f := newFixture(t)
		f.WriteFile(stream, text())
		f.WriteFile("sub/x", "")
		if err := os.Chmod(f.Path(name), 0); err != nil {
			t.Fatal(err)
		}
		found, err := recheck.New(f.options()).Referred(t.Context())
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if err := os.Chmod(f.Path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAfterAnError checks that every call after a failed one fails.
func TestAfterAnError(t *testing.T) {
	f := newFixture(t)
	f.Run("branch", "other", f.commitFile(stream, text()))
	name := f.object("other:" + stream)
	if err := os.Rename(name, name+".away"); err != nil {
		t.Fatal(err)
	}
	p := recheck.New(f.options())
	for range 2 {
		if found, err := p.Referred(t.Context()); err == nil {
			t.Errorf("an opinion that failed has found %v", found)
		}
	}
}

// TestTheSecondTime checks that a second call finds what was added since, also if known objects got
// another name.
func TestTheSecondTime(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(f *fixture)
	}{
		{"file", func(f *fixture) { f.WriteFile(stream, text()) }},
		{"branch", func(f *fixture) { f.Run("branch", "new", f.commitFile(stream, text())) }},
		{"branch of a tag", func(f *fixture) { f.Run("branch", "new", "v1") }},
		{"operation", func(f *fixture) { f.WriteFile(".git/rebase-merge/patch", text()) }},
		{"index", func(f *fixture) {
			f.WriteFile(stream, text())
			f.Run("add", stream)
			f.Remove(".jp")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.Run("branch", "other", f.commitFile(stream, "[]"))
			f.Run("tag", "v1", f.commitFiles(map[string]string{
				stream: text(), ".jp/blobs/" + hash.Path(): carrier,
			}))
			p := recheck.New(f.options())
			if found, err := p.Uncarried(t.Context()); err != nil || len(found) > 0 {
				t.Fatalf("the first time: %v, %v", found, err)
			}
			tt.make(f)
			if found, err := p.Referred(t.Context()); err != nil || len(found) != 1 {
				t.Errorf("the second time: %v, %v", found, err)
			}
		})
	}
}

// TestNothingToAsk checks that an opinion about no hashes does nothing.
func TestNothingToAsk(t *testing.T) {
	p := recheck.New(recheck.Options{Dir: "/nowhere"})
	if found, err := p.Uncarried(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// TestDirectories searches directories without a repository.
func TestDirectories(t *testing.T) {
	dir := gittest.TempDir(t)
	o := recheck.Options{Hashes: []blobs.Hash{hash}, Dirs: []string{dir}}
	ask := func() map[blobs.Hash]recheck.Finding {
		t.Helper()
		found, err := recheck.New(o).Uncarried(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	write := func(name string) {
		t.Helper()
		name = filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, []byte(text()), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("blobs/.tmp/trash/1/run.json")
	write("blobs/.tmp/trash/1/items.jsonl")
	if found := ask(); len(found) > 0 {
		t.Errorf("a journal counts: %v", found)
	}
	write("blobs/.tmp/trash/2/events.json")
	if found := ask(); len(found) != 1 {
		t.Errorf("the quarantine: %v", found)
	}
	o.Dirs = []string{filepath.Join(dir, "gone")}
	if _, err := recheck.New(o).Referred(t.Context()); err == nil {
		t.Error("a directory that is gone is no error")
	}
}

// TestSHA256 searches a repository with SHA-256 object names.
func TestSHA256(t *testing.T) {
	f := newFixture(t, "--object-format=sha256")
	f.Run("branch", "other", f.commitFile("readme", "x", f.commitFile(stream, text())))
	if got := f.referred(); got != "" {
		t.Errorf("before the move it is found in %q", got)
	}
	if got := f.uncarried(); !strings.HasPrefix(got, "history") {
		t.Errorf("found in %q", got)
	}
	f.WriteFile(".git/MERGE_HEAD", f.commitFile(stream, text())+"\n")
	if got := f.referred(); !strings.HasPrefix(got, "MERGE_HEAD") {
		t.Errorf("found in %q", got)
	}
}
