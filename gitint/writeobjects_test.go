package gitint_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

func TestWriteObjects(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile(".gitattributes", "* text\n")
	r.Commit("base")
	r.Run("worktree", "add", "-q", "../tree")
	for _, at := range []*gittest.Repository{r, r.In("../tree")} {
		ids, err := openAt(t, at).WriteObjects(t.Context(), []byte("crlf\r\n"), nil, []byte("x"))
		if err != nil || len(ids) != 3 {
			t.Fatal(ids, err)
		}
		if got := r.Run("cat-file", "-s", ids[0].String()); got != "6" {
			t.Errorf("size %s, want 6: a filter ran", got)
		}
		if got := r.Run("cat-file", "-p", ids[2].String()); got != "x" {
			t.Errorf("content %q", got)
		}
	}
}

func TestHashBlob(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r := gittest.Repo(t, "--object-format="+format)
		want := r.RunInput("content", "hash-object", "--stdin")
		if got := openAt(t, r).HashBlob([]byte("content")); got.String() != want {
			t.Errorf("%s: got %s, want %s", format, got, want)
		}
	}
}
