package gitint_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// below returns "subject path content" for every file of ObjectsBelow.
func below(t *testing.T, r *gittest.Repository, from []string, dirs ...string) []string {
	t.Helper()
	repo := open(t, r)
	var ids []gitint.OID
	for _, rev := range from {
		ids = append(ids, oid(t, r, rev))
	}
	var all []string
	err := repo.ObjectsBelow(t.Context(), ids, dirs, func(p gitint.Passing) error {
		if !strings.HasSuffix(p.Path, ".txt") {
			return nil
		}
		data, err := repo.ReadObject(t.Context(), p.OID, 0)
		if err != nil {
			return err
		}
		all = append(all, subject(t, repo, p.Commit)+" "+p.Path+" "+string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func subject(t *testing.T, repo *gitint.Repo, id gitint.OID) string {
	t.Helper()
	if id.IsZero() {
		return "-"
	}
	info, err := repo.Show(t.Context(), id.String())
	if err != nil {
		t.Fatal(err)
	}
	return info.Subject
}

func oid(t *testing.T, r *gittest.Repository, rev string) gitint.OID {
	t.Helper()
	id, err := gitint.ParseOID(r.Run("rev-parse", rev))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestObjectsBelow checks that every reachable version of a file is found: also one that a merge
// dropped, one in the stash and one in a tree that a tag names.
func TestObjectsBelow(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("in/a.txt", "1")
	r.WriteFile("out/b.txt", "2")
	r.Commit("first")
	r.Run("checkout", "-q", "-b", "side")
	r.WriteFile("in/a.txt", "side")
	r.Commit("aside")
	r.Run("checkout", "-q", "main")
	r.Run("rm", "-q", "in/a.txt")
	r.Commit("removed")
	r.Run("merge", "-q", "-s", "ours", "-m", "merged", "side")
	r.WriteFile("in/deep/c.txt", "3")
	r.Run("add", "-A")
	r.Run("stash", "-q")
	r.WriteFile("in/t.txt", "4")
	r.Run("add", "-A")
	tree := r.Run("write-tree")
	r.Run("tag", "a-tree", tree)
	r.Run("reset", "-q", "--hard")

	got := below(t, r, []string{"main", "stash", "a-tree"}, "in")
	want := []string{
		"aside in/a.txt side", "first in/a.txt 1",
		"WIP on main in/deep/c.txt 3", "WIP on main in/t.txt 4",
	}
	for i, line := range got {
		// The stash has its own subjects for its commits, and a tree has no commit.
		if words := strings.Fields(line); strings.HasSuffix(line, "3") || strings.HasSuffix(line, "4") {
			got[i] = "WIP on main " + strings.Join(words[len(words)-2:], " ")
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if all := below(t, r, []string{"main"}); len(all) != 3 {
		t.Errorf("without directories: %q, want three files", all)
	}
	if none := below(t, r, nil, "in"); none != nil {
		t.Errorf("from nowhere: %q", none)
	}
}

// TestObjectsBelowPassesOver checks that missing objects are no error, and that the caller can end
// the walk.
func TestObjectsBelowPassesOver(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("in/a.txt", "1")
	r.WriteFile("in/b.txt", "2")
	r.Commit("first")
	gone := oid(t, r, "main:in/a.txt").String()
	r.Remove(".git/objects/" + gone[:2] + "/" + gone[2:])
	repo := open(t, r)
	absent, err := gitint.ParseOID(strings.Repeat("1", 40))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	from := []gitint.OID{absent, oid(t, r, "main")}
	if err := repo.ObjectsBelow(t.Context(), from, []string{"in"}, func(p gitint.Passing) error {
		seen = append(seen, p.Path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(seen, "in/b.txt") {
		t.Errorf("got %q, want in/b.txt among them", seen)
	}
	enough := errors.New("enough")
	err = repo.ObjectsBelow(t.Context(), from, nil, func(gitint.Passing) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("got %v, want the error of the caller", err)
	}
}

// TestFetchBringsEveryBranch checks that a clone of a single branch gets the others.
func TestFetchBringsEveryBranch(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a.txt", "1")
	r.Commit("first")
	r.Run("branch", "other")
	clone := gittest.At(t, r.Dir+"-clone")
	r.Run("clone", "-q", "--single-branch", "file://"+r.Dir, clone.Dir)
	repo := open(t, clone)
	remotes, err := repo.Remotes(t.Context())
	if err != nil || !slices.Equal(remotes, []string{"origin"}) {
		t.Fatalf("remotes are %q, %v", remotes, err)
	}
	if err := repo.Fetch(t.Context(), "origin"); err != nil {
		t.Fatal(err)
	}
	if got := clone.Run("rev-parse", "origin/other"); got != r.Run("rev-parse", "other") {
		t.Errorf("origin/other is %s", got)
	}
	if err := repo.Fetch(t.Context(), "nowhere"); err == nil {
		t.Error("fetching from nowhere is no error")
	}
}
