package gitint_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestReplaceTree checks that only the tree of a commit changes, also during a merge, and that
// nothing changes if HEAD is another commit or the commit is signed.
func TestReplaceTree(t *testing.T) {
	g := gittest.Repo(t)
	g.WriteFile("a", "one\n")
	g.Commit("first\n\nWith a body.")
	g.Run("branch", "other")
	g.WriteFile("a", "two\n")
	g.Run("add", "a")
	g.WriteFile(".git/MERGE_HEAD", g.Run("rev-parse", "HEAD"))
	repo := open(t, g)
	head, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	before := g.Run("cat-file", "commit", "HEAD")
	id, err := repo.ReplaceTree(t.Context(), head, "because")
	if err != nil {
		t.Fatal(err)
	}
	_, was, _ := strings.Cut(before, "\n")
	_, is, _ := strings.Cut(g.Run("cat-file", "commit", "HEAD"), "\n")
	if was != is || g.Run("show", "HEAD:a") != "two\n" && g.Run("show", "HEAD:a") != "two" {
		t.Errorf("the commit is\n%s", g.Run("cat-file", "commit", "HEAD"))
	}
	if got := g.Run("rev-parse", "HEAD"); strings.TrimSpace(got) != id.String() {
		t.Errorf("HEAD is %s, not %s", got, id)
	}
	if got := g.Run("log", "-g", "-1", "--format=%gs"); strings.TrimSpace(got) != "because" {
		t.Errorf("the reflog says %q", got)
	}
	names, err := repo.RefsWith(t.Context(), head)
	if err != nil || len(names) != 1 || names[0] != "refs/heads/other" {
		t.Errorf("%s is in %v, %v", head, names, err)
	}
	if _, err := repo.ReplaceTree(t.Context(), head, "late"); err == nil {
		t.Error("a HEAD that moved was replaced")
	}
	signed := strings.Replace(before, "\n\n", "\ngpgsig nobody\n\n", 1)
	signedID := strings.TrimSpace(g.RunInput(signed, "hash-object", "-t", "commit", "-w", "--stdin"))
	g.Run("update-ref", "HEAD", signedID)
	head, err = gitint.ParseOID(signedID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.ReplaceTree(t.Context(), head, "signed"); !errors.Is(err, gitint.ErrSigned) {
		t.Errorf("of a signed one: %v", err)
	}
	if err := os.Remove(g.Path(".git/MERGE_HEAD")); err != nil {
		t.Fatal(err)
	}
}
