package gitint_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestSquashed finds the commits with a message proposed by merge --squash whose listed commits
// exist.
func TestSquashed(t *testing.T) {
	git := gittest.Repo(t)
	git.WriteFile("a", "1")
	git.Commit("base")
	git.Run("checkout", "-q", "-b", "topic")
	git.WriteFile("b", "1")
	git.Commit("one")
	git.WriteFile("b", "2")
	topic := git.Commit("two")
	git.Run("checkout", "-q", "main")
	git.Run("merge", "-q", "--squash", "topic")
	git.Run("commit", "-q", "--no-edit")
	squash := git.Run("rev-parse", "HEAD")
	git.Run("commit", "-q", "--allow-empty", "-m", "Squashed commit of the following:\n\nmany")
	git.Run("commit", "-q", "--allow-empty", "-m",
		"Squashed commit of the following:\n\ncommit 1111111111111111111111111111111111111111")
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: git.Dir, Env: git.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close() // it was only read
	of, err := repo.Squashed(t.Context(), "topic..HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if len(of) != 1 {
		t.Errorf("%d are found: %v", len(of), of)
	}
	for id, squashed := range of {
		if id.String() != squash || len(squashed) != 1 || squashed[0].String() != topic {
			t.Errorf("%s squashed %s", id, squashed)
		}
	}
	if _, err := repo.Squashed(t.Context(), "nothing"); err == nil {
		t.Error("an unknown revision is no error")
	}
}

// TestSquashedOctopus checks the message for several branches, which lists all commits as one
// history.
func TestSquashedOctopus(t *testing.T) {
	git := gittest.Repo(t)
	git.WriteFile("a", "1")
	git.Commit("base")
	want := map[string]bool{}
	for _, branch := range []string{"one", "two"} {
		git.Run("checkout", "-q", "-b", branch, "main")
		git.WriteFile(branch, "1")
		git.Commit(branch + " first")
		git.WriteFile(branch, "2")
		want[git.Commit(branch+" second\n\ncommit "+strings.Repeat("1", 40))] = true
	}
	git.Run("checkout", "-q", "main")
	git.Run("merge", "-q", "--squash", "one", "two")
	git.Run("commit", "-q", "--no-edit")
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: git.Dir, Env: git.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close() // it was only read
	of, err := repo.Squashed(t.Context(), "HEAD^!")
	if err != nil {
		t.Fatal(err)
	}
	for _, tips := range of {
		for _, tip := range tips {
			if !want[tip.String()] {
				t.Errorf("%s was squashed", tip)
			}
			delete(want, tip.String())
		}
	}
	if len(want) > 0 {
		t.Errorf("not among the squashed: %v", want)
	}
}
