package gittest_test

import (
	"os"
	"strings"
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

// TestCommitOf verifies that a commit equals git's commit of the same files.
func TestCommitOf(t *testing.T) {
	r := gittest.Repo(t)
	files := map[string]string{"a/b/c.txt": "1", "a.txt": "2", "a/b.txt": "3", "z": "", "a-b": "4"}
	for name, content := range files {
		r.WriteFile(name, content)
	}
	r.Run("add", "-A")
	want := r.Run("commit-tree", "-m", "made", r.Run("write-tree"))
	other := gittest.Repo(t)
	if got := other.CommitOf("made", files); got != want {
		t.Errorf("got the commit %s, want %s", got, want)
	}
	other.Run("update-ref", "refs/heads/main", want)
	other.Run("fsck", "--strict")
}

func commitTwice(t *testing.T) string {
	t.Helper()
	r := gittest.Repo(t)
	r.WriteFile("a/b.txt", "one\n")
	r.Commit("one")
	r.WriteFile("a/b.txt", "two\n")
	return r.Commit("two")
}

// TestTemplate verifies that copies equal the original, are independent, and clean for git.
func TestTemplate(t *testing.T) {
	made := 0
	fill := func(r *gittest.Repository) {
		made++
		r.WriteFile("a/b.txt", "one\n")
		r.Commit("one")
	}
	first := gittest.Template(t, "copies", fill)
	first.WriteFile("a/b.txt", "changed\n")
	first.Remove(".git/HEAD")
	second := gittest.Template(t, "copies", fill)
	if made != 1 {
		t.Errorf("the template was made %d times, want once", made)
	}
	if out, err := second.Try("diff-files", "--quiet"); err != nil {
		t.Errorf("git sees a change: %v\n%s", err, out)
	}
	second.Run("fsck", "--strict")
	second.WriteFile("a/b.txt", "two\n")
	if got, want := second.Commit("two"), commitTwice(t); got != want {
		t.Errorf("the next commit: got %s, want %s", got, want)
	}
	if other := gittest.Template(t, "copies", fill, "--object-format=sha256"); made != 2 || other.Dir == second.Dir {
		t.Errorf("other arguments: made %d times, want twice", made)
	}
}

// TestHooksRunTheSameGit verifies that the hooks and aliases of a git from another directory, which
// is first in PATH, find the same git.
func TestHooksRunTheSameGit(t *testing.T) {
	r := gittest.Repo(t)
	want := r.Run("version")
	r.WriteFile(".git/hooks/pre-commit", "#!/bin/sh\ngit version > version\n")
	if err := os.Chmod(r.Path(".git/hooks/pre-commit"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.Commit("one")
	if got := strings.TrimSpace(r.ReadFile("version")); got != want {
		t.Errorf("a hook runs %q, and we %q", got, want)
	}
	if got := r.Run("-c", "alias.v=!git version", "v"); got != want {
		t.Errorf("an alias runs %q, and we %q", got, want)
	}
}
