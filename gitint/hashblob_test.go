package gitint_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

func TestHashBlob(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r := gittest.Repo(t, "--object-format="+format)
		want := r.RunInput("content", "hash-object", "--stdin")
		if got := openAt(t, r).HashBlob([]byte("content")); got.String() != want {
			t.Errorf("%s: got %s, want %s", format, got, want)
		}
	}
}
