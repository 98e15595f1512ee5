package gittest_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

func TestCommitIsReproducible(t *testing.T) {
	first := commitTwice(t)
	second := commitTwice(t)
	if first != second {
		t.Errorf("the same commits got different ids: %s, %s", first, second)
	}
}

func TestNoConfigurationOfTheMachine(t *testing.T) {
	r := gittest.Repo(t)
	if out, err := r.Try("config", "--get", "user.name"); err == nil {
		t.Errorf("user.name is configured: %q", out)
	}
}

func commitTwice(t *testing.T) string {
	t.Helper()
	r := gittest.Repo(t)
	r.WriteFile("a/b.txt", "one\n")
	r.Commit("one")
	r.WriteFile("a/b.txt", "two\n")
	return r.Commit("two")
}
