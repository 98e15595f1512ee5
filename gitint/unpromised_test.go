package gitint_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestUnpromised asks for so many missing objects that trees are read together, and for a few:
// only those that a remote has, at their paths or at all, are promised.
func TestUnpromised(t *testing.T) {
	const n = 300
	r := gittest.Repo(t)
	r.Run("config", "uploadpack.allowFilter", "true")
	r.WriteFile("old", "old")
	r.Run("add", ".")
	r.Run("commit", "-qm", "old")
	old := oid(t, r, "HEAD:old")
	r.Run("rm", "-q", "old")
	for i := range n {
		r.WriteFile(fmt.Sprintf("d/%d/%d/file", i%7, i), fmt.Sprint(i))
	}
	r.Run("add", ".")
	r.Run("commit", "-qm", "all")
	tree := oid(t, r, "HEAD:d")
	r.Run("clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+r.Dir, "../partial")
	repo := open(t, r.In("../partial"))
	head, err := repo.Tree(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	all, err := head.Entries("d")
	if err != nil || len(all) != n {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	never, err := gitint.ParseOID(fmt.Sprintf("%040x", 1))
	if err != nil {
		t.Fatal(err)
	}
	strange := []gitint.Entry{
		{Path: all[0].Path, OID: never}, // with another object there
		{Path: "d/0", OID: never},       // a directory
		{Path: all[1].Path + "/below", OID: never},
		{Path: "d/none/file", OID: never},
		{Path: "", OID: never},
	}
	for _, few := range []bool{true, false} {
		asked := slices.Concat(all, strange, []gitint.Entry{
			{Path: all[2].Path, OID: old},        // of an older commit
			{Path: "elsewhere", OID: all[3].OID}, // at another path
			{Path: "d", OID: tree},               // a tree that is here
		})
		if few {
			asked = asked[n-5:]
		}
		lost, err := repo.Unpromised(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(lost, strange) {
			t.Errorf("lost: %v, want %v", lost, strange)
		}
	}
	if all, err = repoWithout(t, r).Unpromised(t.Context(), all); err != nil || len(all) != n {
		t.Errorf("without remote-tracking branches %d are lost, %v", len(all), err)
	}
}

// repoWithout clones a repository without its blobs and removes the remote-tracking branches.
func repoWithout(t *testing.T, r *gittest.Repository) *gitint.Repo {
	t.Helper()
	r.Run("clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+r.Dir, "../alone")
	alone := r.In("../alone")
	alone.Run("update-ref", "-d", "refs/remotes/origin/HEAD", "--no-deref")
	for _, name := range []string{"main", "master"} {
		alone.Run("update-ref", "-d", "refs/remotes/origin/"+name)
	}
	return open(t, alone)
}
