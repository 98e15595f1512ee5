package check

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
)

// A leftSource holds the files that a working tree leaves out. It counts lookups by path alone.
type leftSource struct {
	*source
	byPath int
	most   int // largest number of files looked up at once
}

func (n *leftSource) Sizes(ctx context.Context, files []File) ([]int64, error) {
	n.most = max(n.most, len(files))
	for _, f := range files {
		if f.ID.IsZero() {
			n.byPath++
		}
	}
	return n.source.Sizes(ctx, files)
}

func (*leftSource) IsLazy(context.Context) bool { return true }

func (n *leftSource) Lost(_ context.Context, files []File) ([]File, error) {
	for _, f := range files {
		if f.ID.IsZero() {
			n.byPath++
		}
	}
	return nil, nil
}

// TestLeftOutIsAskedForByName: files that a working tree leaves out are found by the objects in its
// listing. Descending to each path again would read as many trees as there are blobs.
func TestLeftOutIsAskedForByName(t *testing.T) {
	f, tree := many(20), fstest.MapFS{}
	for name, file := range f {
		if !leftOut(name, 0) {
			tree[name] = file
		}
	}
	left := &leftSource{source: f.source("HEAD")}
	src := FS(WorkTreeName, tree, regular.Limits{})
	report, err := Tree(t.Context(), src, Options{LeftOut: []Source{left}})
	if err != nil || report.References != 20 || len(report.Findings) > 0 {
		t.Fatalf("%d references, %v, %v", report.References, report.Findings, err)
	}
	if left.byPath > 0 {
		t.Errorf("%d files were asked for by their paths", left.byPath)
	}
}

// An objects is a source of files that also knows the objects of another one, as git does.
type objects struct {
	*source
	other *source
}

func objectsOf(f, other forest, name string) objects {
	return objects{f.source(name), other.source(name)}
}

func (o objects) Sizes(_ context.Context, files []File) ([]int64, error) {
	sizes := make([]int64, len(files))
	for i, f := range files {
		sizes[i] = -1
		for _, s := range []*source{o.source, o.other} {
			if f.ID == s.ids[f.Path] || f.ID.IsZero() && s == o.source {
				sizes[i] = int64(len(s.tree[f.Path].Data))
			}
		}
	}
	return sizes, nil
}

// TestFirstCounts: if the working tree has a blob and also leaves it out, its file counts, and
// otherwise the first source of left-out files that has it.
func TestFirstCounts(t *testing.T) {
	f := many(2)
	whole, empty := fstest.MapFS(maps.Clone(f)), maps.Clone(f)
	var stores []string
	for name := range f {
		if leftOut(name, 0) {
			stores = append(stores, name)
			empty[name] = &fstest.MapFile{}
		}
	}
	without, one := fstest.MapFS(maps.Clone(f)), fstest.MapFS(maps.Clone(f))
	for _, name := range stores {
		delete(without, name)
		delete(one, name)
	}
	one[stores[0]] = &fstest.MapFile{}
	good, bad := objectsOf(f, empty, "HEAD"), objectsOf(empty, f, "index")
	for _, c := range []struct {
		name string
		tree fstest.MapFS
		left []Source
		want int // empty files
	}{
		{"file", whole, []Source{bad}, 0},
		{"empty file", one, []Source{good}, 1},
		{"first", without, []Source{good, bad}, 0},
		{"second", without, []Source{bad, good}, 2},
	} {
		src := FS(WorkTreeName, c.tree, regular.Limits{})
		report, err := Tree(t.Context(), src, Options{LeftOut: c.left})
		if err != nil || report.References != 2 || len(report.Findings) != c.want {
			t.Errorf("%s: %d references, %v, %v", c.name, report.References, report.Findings, err)
		}
	}
}

// TestLargeStoreTakesTurns: the number of blobs looked up at a time is bounded, however many a
// working tree leaves out.
func TestLargeStoreTakesTurns(t *testing.T) {
	const n = pathsAtOnce + 1
	left := &leftSource{source: forest{}.source("HEAD")}
	s := newStore(".jp/blobs", &refs.Cache{})
	var wanted []*blob
	for i := range n {
		b, _, _ := s.refer(blobs.RefTo([]byte(strconv.Itoa(i))))
		b.mode, b.id = 0, hashOf("blob", strconv.Itoa(i))
		wanted = append(wanted, b)
	}
	src := Lazily(FS(WorkTreeName, fstest.MapFS{}, regular.Limits{}), []Source{left})
	sound, err := newVerifier(&Options{}, s.cache).judge(t.Context(), src, s, wanted)
	if err != nil || !sound || left.most != pathsAtOnce {
		t.Errorf("sound %t, %d at once, %v", sound, left.most, err)
	}
}

// TestPromisedDirectoriesAreNotRead checks commits of a lazy clone again: what a remote has as the
// commit has it costs nothing, also beside what only this clone has. That can still be lost.
func TestPromisedDirectoriesAreNotRead(t *testing.T) {
	origin := repositoryAt(t, gittest.Repo(t))
	const n = 300
	origin.commit(t, many(n))
	origin.Run("config", "uploadpack.allowFilter", "true")
	clone, err := gitint.Clone(t.Context(), gitint.Options{Dir: origin.Dir, Env: origin.Env},
		gitint.CloneRequest{
			URL: "file://" + origin.Dir, Dir: filepath.Join(gittest.TempDir(t), "lazy"),
			Pattern: "!**/.jp/blobs/",
		})
	if err != nil {
		t.Fatal(err)
	}
	defer clone.Close()
	cache := t.TempDir()
	check := func(want int) (reads int) {
		t.Helper()
		r := repositoryAt(t, gittest.At(t, clone.Root()))
		c := refs.Open(cache)
		defer c.Close()
		found := checked(t, r.revision(t, "HEAD"), Options{Cache: c})
		if len(found) != want {
			t.Errorf("findings: %v", found)
		}
		return r.door.ObjectsRead()
	}
	if reads := check(0); reads < 2*n {
		t.Errorf("the first check read %d objects, so the test tests nothing", reads)
	}
	if reads := check(0); reads > n+20 { // the directories of conversations
		t.Errorf("the second check read %d objects", reads)
	}
	const content = "only here"
	r := repositoryAt(t, gittest.At(t, clone.Root()))
	more := forest{}.conversation("17800999999", "T", content)
	if err := os.CopyFS(r.Dir, fstest.MapFS(more)); err != nil {
		t.Fatal(err)
	}
	r.Run("add", "-f", "--sparse", ".jp")
	r.Run("commit", "-qm", "more")
	check(0)
	if reads := check(0); reads > n+40 {
		t.Errorf("the second check of another commit read %d objects", reads)
	}
	// Refs that are not commits, and broken ones, promise nothing.
	r.WriteFile("note", "a note")
	r.Run("update-ref", "refs/remotes/origin/note", r.Run("hash-object", "-w", "note"))
	r.WriteFile(".git/refs/remotes/origin/broken", strings.Repeat("1", 40)+"\n")
	check(0)
	r.Run("update-ref", "-d", "refs/remotes/origin/broken")
	id := r.Run("rev-parse", "HEAD:"+blobPath(content))
	if err := os.Remove(r.Path(".git/objects/" + id[:2] + "/" + id[2:])); err != nil {
		t.Fatal(err)
	}
	check(1)
}
