package gitint_test

import (
	"maps"
	"testing"

	"github.com/git-jp/git-jp/gitint"
)

func TestLastWith(t *testing.T) {
	r := committed(t, map[string]string{".jp/a": "1", ".jp/b": "1", ".jp/n\nl": "1"})
	first := r.Run("rev-parse", "HEAD")
	r.WriteFile(".jp/b", "2")
	r.Run("rm", "-q", ".jp/a")
	r.Commit("second")
	second := r.Run("rev-parse", "HEAD")
	r.Run("checkout", "-q", "--orphan", "other")
	r.Run("rm", "-rfq", ".")
	r.WriteFile(".jp/c", "3")
	r.Commit("elsewhere")
	third := r.Run("rev-parse", "HEAD")
	r.Run("checkout", "-q", "main")
	repo := openAt(t, r)
	got, err := repo.LastWith(t.Context(), ".jp/a", ".jp/b", ".jp/c", ".jp/n\nl", ".jp/never")
	if err != nil {
		t.Fatal(err)
	}
	text := make(map[string]string, len(got))
	for name, id := range got {
		text[name] = id.String()
	}
	want := map[string]string{
		".jp/a": first, ".jp/b": second, ".jp/c": third, ".jp/n\nl": first,
	}
	if !maps.Equal(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestLastWithOfNothing(t *testing.T) {
	var repo gitint.Repo // git is not run
	if got, err := repo.LastWith(t.Context()); len(got) > 0 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
