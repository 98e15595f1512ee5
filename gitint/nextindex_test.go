package gitint_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// nextEntries returns the entries of the next indexes of the main worktree.
func nextEntries(t *testing.T, r *gittest.Repository) (names []string, err error) {
	t.Helper()
	repo := open(t, r)
	all, err := repo.Worktrees(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := repo.NextIndexes(all[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		x, err := repo.NextIndex(t.Context(), all[0], file, gitint.NoWait)
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		entries, _ := x.Entries(".")
		for _, e := range entries {
			names = append(names, e.Path)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// TestNextIndexes reads the next index while an editor is open, under every form of git commit that
// has one.
func TestNextIndexes(t *testing.T) {
	for _, args := range [][]string{
		{"-a"}, {"a"}, {"--only", "a"}, {"--include", "a"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			r := gittest.Repo(t)
			r.WriteFile("a", "1")
			r.Commit("x")
			r.WriteFile("a", "2")
			// A failing editor would make git remove them: they are copied to other such names.
			editor := r.With("GIT_EDITOR=f() { for i in .git/index.lock .git/next-index-*.lock; do " +
				"test -e $i && cp $i .git/next-index-copy-${i##*/}; done; false; }; f")
			if _, err := editor.Try(append([]string{"commit"}, args...)...); err == nil {
				t.Fatal("it commits")
			}
			names, err := nextEntries(t, r)
			if err != nil || !slices.Equal(names, []string{"a"}) {
				t.Errorf("next indexes have %q, %v", names, err)
			}
		})
	}
}

// TestNextIndexIsNotWhole checks that an index which git is writing is refused by name, and that a
// lock of this program is recognized.
func TestNextIndexIsNotWhole(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a", "1")
	r.Commit("x")
	whole := r.ReadFile(".git/index")
	lock := r.Path(".git/index.lock")
	for n := range len(whole) {
		writeOver(t, lock, []byte(whole[:n]))
		held := new(gitint.LockedError)
		if _, err := nextEntries(t, r); !errors.As(err, &held) || held.Path != lock {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(whole), err)
		}
	}
	writeOver(t, lock, []byte("git-jp 4194305\n"))
	if names, err := nextEntries(t, r); err != nil || len(names) > 0 {
		t.Errorf("our own: %q, %v", names, err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if names, err := nextEntries(t, r); err != nil || len(names) > 0 {
		t.Errorf("none: %q, %v", names, err)
	}
}

// TestIndexesUnderOtherNames checks that every file beside HEAD that begins like an index is one,
// and that the shared index of a split one is not: what was removed since is still in that.
func TestIndexesUnderOtherNames(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a", "1")
	r.Commit("x")
	r.Run("config", "splitIndex.maxPercentChange", "100")
	r.Run("update-index", "--split-index")
	if names, err := nextEntries(t, r); err != nil || len(names) > 0 {
		t.Errorf("split: %q, %v", names, err)
	}
	r.WriteFile("b", "2")
	r.With("GIT_INDEX_FILE="+r.Path(".git/mine")).Run("add", "b")
	if names, err := nextEntries(t, r); err != nil || !slices.Equal(names, []string{"b"}) {
		t.Errorf("another: %q, %v", names, err)
	}
	whole := r.ReadFile(".git/mine")
	writeOver(t, r.Path(".git/mine"), []byte(whole[:len(whole)-1]))
	held := new(gitint.LockedError)
	if _, err := nextEntries(t, r); !errors.As(err, &held) || held.Path != r.Path(".git/mine") {
		t.Errorf("cut: %v", err)
	}
}
