package gitint_test

import (
	"maps"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
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

// TestHomes tests that objects are found wherever they were below a directory, also if only a merge
// has them, and nowhere else.
func TestHomes(t *testing.T) {
	r := committed(t, map[string]string{".jp/a": "1", "b": "elsewhere"})
	first := r.Run("rev-parse", "HEAD")
	r.WriteFile(".jp/a", "2")
	r.Commit("second")
	second := r.Run("rev-parse", "HEAD")
	r.Run("mv", ".jp/a", ".jp/moved")
	r.Commit("third")
	r.Run("checkout", "-q", "-b", "other", first)
	r.WriteFile(".jp/c", "3")
	r.Commit("fourth")
	r.Run("merge", "-q", "--no-commit", "main")
	r.WriteFile(".jp/c", "4")
	r.Run("commit", "-qam", "merge")
	merge := r.Run("rev-parse", "HEAD")
	r.Run("checkout", "-q", "main")
	repo := openAt(t, r)
	of := func(s string) gitint.OID { return repo.HashBlob([]byte(s)) }
	got, err := repo.Homes(t.Context(), ".jp",
		of("1"), of("2"), of("4"), of("never"), of("elsewhere"))
	if err != nil {
		t.Fatal(err)
	}
	text := make(map[string]string, len(got))
	for id, home := range got {
		text[id.String()] = home.Commit.String() + ":" + home.Path
	}
	third := r.Run("rev-parse", "main")
	want := map[string]string{
		of("1").String(): first + ":.jp/a", of("4").String(): merge + ":.jp/c",
		of("2").String(): third + ":.jp/moved",
	}
	for _, is := range text {
		if is == merge+":.jp/moved" || is == second+":.jp/a" {
			want[of("2").String()] = is // commits of one second have no order
		}
	}
	if !maps.Equal(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
}

// TestHeadNeedsNoProcess: hooks ask for the commit of HEAD, which git has just written. Of a packed
// one, and of a damaged one, git is asked.
func TestHeadNeedsNoProcess(t *testing.T) {
	r := gittest.Repo(t)
	want := r.Commit("one")
	resolve := func() (string, int, error) {
		repo := open(t, r)
		id, err := repo.Resolve(t.Context(), "HEAD")
		return id.String(), repo.Processes(), err
	}
	if got, n, err := resolve(); got != want || n > 0 || err != nil {
		t.Errorf("loose: %s by %d processes, %v, want %s by none", got, n, err, want)
	}
	head := r.ReadFile(".git/HEAD")
	r.Run("tag", "-am", "t", "t")
	r.WriteFile(".git/HEAD", r.Run("rev-parse", "t")+"\n")
	if got, n, err := resolve(); got != want || n == 0 || err != nil {
		t.Errorf("tag: %s by %d processes, %v, want %s by git", got, n, err, want)
	}
	r.WriteFile(".git/HEAD", head)
	file := func(id string) string { return ".git/objects/" + id[:2] + "/" + id[2:] }
	loose := r.ReadFile(file(want))
	other := r.ReadFile(file(r.Run("commit-tree", "-m", "other", "HEAD^{tree}")))
	r.Run("repack", "-adq") // the ref stays in its file
	if got, n, err := resolve(); got != want || n == 0 || err != nil {
		t.Errorf("packed: %s by %d processes, %v, want %s by git", got, n, err, want)
	}
	for what, content := range map[string]string{
		"damaged": loose[:len(loose)/2], "another commit": other,
	} {
		r.WriteFile(file(want), content)
		if got, n, err := resolve(); n == 0 {
			t.Errorf("%s: %s by %d processes, %v", what, got, n, err)
		}
	}
}
