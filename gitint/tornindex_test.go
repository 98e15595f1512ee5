package gitint_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// tornShapes returns indexes of all forms that git writes.
func tornShapes() map[string]func(*testing.T) *gittest.Repository {
	small := func(args ...string) func(*testing.T) *gittest.Repository {
		return func(t *testing.T) *gittest.Repository {
			r := gittest.Repo(t)
			for _, name := range []string{"a", ".jp/conversations/1-x/events.json", "long/" +
				strings.Repeat("n", 200), "b/c"} {
				r.WriteFile(name, name)
			}
			r.Commit("x")
			if len(args) > 0 {
				r.Run(args...)
			}
			return r
		}
	}
	unsummed := func(make func(*testing.T) *gittest.Repository) func(*testing.T) *gittest.Repository {
		return func(t *testing.T) *gittest.Repository {
			r := make(t)
			data := []byte(r.ReadFile(".git/index"))
			clear(data[len(data)-20:])
			r.WriteFile(".git/index", string(data))
			return r
		}
	}
	version3 := func(t *testing.T) *gittest.Repository {
		r := small("update-index", "--skip-worktree", "a")(t)
		r.WriteFile("announced", "")
		r.Run("add", "--intent-to-add", "announced")
		return r
	}
	split := func(t *testing.T) *gittest.Repository {
		r := small("update-index", "--split-index")(t)
		r.Run("config", "splitIndex.maxPercentChange", "100")
		r.WriteFile("later", "x")
		r.Run("add", "later")
		return r
	}
	version4 := small("update-index", "--index-version", "4")
	return map[string]func(*testing.T) *gittest.Repository{
		"version 2": small(), "version 3": version3, "version 4": version4,
		"extensions": small("update-index", "--untracked-cache", "--force-untracked-cache"),
		"sparse":     small("sparse-checkout", "set", "--cone", "--sparse-index", "b"),
		"split":      split, "sha256": func(t *testing.T) *gittest.Repository {
			r := gittest.Repo(t, "--object-format=sha256")
			r.WriteFile("a", "x")
			r.Commit("x")
			return r
		},
		"unsummed": unsummed(small()), "unsummed, version 3": unsummed(version3),
		"unsummed, version 4": unsummed(version4), "unsummed, split": unsummed(split),
	}
}

// TestTornIndex truncates an index at every byte, and changes every byte of it: it is refused by
// name, or git reads the same from it.
func TestTornIndex(t *testing.T) {
	for name, make := range tornShapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := make(t)
			files, err := filepath.Glob(r.Path(".git/*index*"))
			if err != nil || len(files) == 0 {
				t.Fatalf("indexes %v, %v", files, err)
			}
			for _, file := range files {
				tear(t, r, file)
			}
		})
	}
}

func tear(t *testing.T, r *gittest.Repository, file string) {
	t.Helper()
	repo := open(t, r)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sound := func() []gitint.Entry {
		t.Helper()
		x, err := repo.Index(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all, _ := x.Entries(".")
		return all
	}
	before := sound()
	for n := range whole {
		writeOver(t, file, whole[:n])
		if _, err := repo.Index(t.Context()); err == nil {
			t.Errorf("cut to %d of %d bytes, %s is read", n, len(whole), file)
		} else if !strings.Contains(err.Error(), file) {
			t.Errorf("the error does not name the file: %v", err)
		}
	}
	summed := !bytes.Equal(whole[len(whole)-20:], make([]byte, 20))
	for n := range whole {
		if !summed && n%11 != 0 && os.Getenv("GIT_JP_SOAK") == "" {
			continue // git is asked about each
		}
		torn := slices.Clone(whole)
		torn[n] ^= 1 << (n % 8)
		writeOver(t, file, torn)
		x, err := repo.Index(t.Context())
		if err != nil {
			continue
		}
		if summed {
			t.Errorf("%s is read in spite of its checksum, byte %d", file, n)
			continue
		}
		sameAsGit(t, r, x, n)
	}
	writeOver(t, file, whole)
	if after := sound(); !slices.Equal(before, after) {
		t.Errorf("read %v, and before %v", after, before)
	}
}

func writeOver(t *testing.T, file string, data []byte) {
	t.Helper()
	_ = os.Remove(file) // some are read-only
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// sameAsGit compares with what git reads from an index without a checksum.
func sameAsGit(t *testing.T, r *gittest.Repository, x *gitint.Index, n int) {
	t.Helper()
	out, err := r.Try("ls-files", "--stage", "-z")
	if err != nil {
		t.Errorf("with byte %d changed git reads nothing: %v", n, err)
		return
	}
	all, _ := x.Entries(".")
	count := len(all) + len(x.Stages()) + len(x.IntentToAdd())
	if lines := strings.Count(out, "\x00"); lines != count {
		t.Errorf("with byte %d changed git reads %d entries, not %d", n, lines, count)
	}
	for _, e := range all {
		if !strings.Contains(out, e.OID.String()+" 0\t"+e.Path+"\x00") {
			t.Errorf("with byte %d changed git does not read %s", n, e.Path)
		}
	}
}

// TestIndexWhere checks that a filtered index has the same entries as the complete one, in each
// form.
func TestIndexWhere(t *testing.T) {
	for name, make := range tornShapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := open(t, make(t))
			whole, err := repo.Index(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			wanted := func(path []byte, _ gitint.Mark) bool {
				return bytes.Contains(path, []byte("/"))
			}
			part, err := repo.IndexWhere(t.Context(), wanted)
			if err != nil {
				t.Fatal(err)
			}
			all, _ := whole.Entries(".")
			all = slices.DeleteFunc(all, func(e gitint.Entry) bool { return !wanted([]byte(e.Path), gitint.MarkNone) })
			if some, _ := part.Entries("."); !slices.Equal(some, all) {
				t.Errorf("read %v, not %v", some, all)
			}
			marked, err := repo.IndexWhere(t.Context(), func(_ []byte, mark gitint.Mark) bool {
				return mark != gitint.MarkNone
			})
			if err != nil {
				t.Fatal(err)
			}
			all, _ = marked.Entries(".")
			if some := strings.HasSuffix(name, "version 3"); some != (len(all) == 1) ||
				!slices.Equal(marked.Pinned(), whole.Pinned()) {
				t.Errorf("pinned: %v, %v of %v", all, marked.Pinned(), whole.Pinned())
			}
			if got := part.IntentToAdd(); slices.Contains(got, "announced") {
				t.Errorf("announced: %v", got)
			}
		})
	}
}

// TestIndexBeyond checks that IndexBeyond has exactly the entries that differ from a tree, in each
// form.
func TestIndexBeyond(t *testing.T) {
	for name, make := range tornShapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := make(t)
			for _, name := range []string{"b/c", "b/d", ".jp/conversations/1-x/added", "unwanted"} {
				r.WriteFile(name, "other")
			}
			r.Run("update-index", "--add", "b/c", "b/d", ".jp/conversations/1-x/added", "unwanted")
			repo := open(t, r)
			head, err := repo.Tree(t.Context(), "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			whole, err := repo.Index(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			wanted := func(path []byte) bool { return bytes.Contains(path, []byte("/")) }
			beyond, err := repo.IndexBeyond(t.Context(), head, wanted)
			if err != nil {
				t.Fatal(err)
			}
			all, _ := whole.Entries(".")
			all = slices.DeleteFunc(all, func(e gitint.Entry) bool {
				id, ok := head.OID(e.Path)
				return !wanted([]byte(e.Path)) || ok && id == e.OID
			})
			if some, _ := beyond.Entries("."); !slices.Equal(some, all) || len(all) != 3 {
				t.Errorf("read %v, not %v", some, all)
			}
		})
	}
}

// TestStageCopiesNoIndex checks that the copy on which git works takes no space, and that the index
// is unchanged until the change is complete.
func TestStageCopiesNoIndex(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a", "x")
	r.Commit("x")
	r.WriteFile("b", "y")
	before := r.ReadFile(".git/index")
	repo := open(t, r)
	_, err := repo.Stage(t.Context(), gitint.Change{
		Add: []string{"b"},
		Verify: func(context.Context, []gitint.Entry) error {
			if r.ReadFile(".git/index") != before {
				t.Error("the index changed before the change was complete")
			}
			return errors.New("no")
		},
	})
	if err == nil || r.ReadFile(".git/index") != before {
		t.Errorf("err %v, and the index is not as it was", err)
	}
}

// TestChangesOfTornIndex checks that the error names the damaged index, not the git command that
// failed.
func TestChangesOfTornIndex(t *testing.T) {
	t.Parallel()
	r := gittest.Repo(t)
	r.WriteFile("a", "a")
	r.Commit("x")
	repo := open(t, r)
	for _, torn := range []string{"", "DIRC\x00\x00\x00\x09\x00\x00\x00\x01" + strings.Repeat("x", 40)} {
		r.WriteFile(".git/index", torn)
		_, _, err := repo.Changes(t.Context())
		if err == nil || errors.As(err, new(*gitint.ExitError)) ||
			!strings.Contains(err.Error(), r.Path(".git/index")) {
			t.Errorf("an index of %d bytes: %v", len(torn), err)
		}
	}
}
