package gitint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// committed returns a repository with these files in one commit.
func committed(tb testing.TB, files map[string]string) *gittest.Repository {
	tb.Helper()
	r := gittest.Repo(tb)
	for name, content := range files {
		write(tb, r, name, content)
	}
	r.Commit("base")
	return r
}

// conflicted returns a repository in which x is unmerged and y is untracked.
func conflicted(tb testing.TB) *gittest.Repository {
	tb.Helper()
	r := committed(tb, map[string]string{"x": "base\n", "z": "z\n"})
	r.Run("checkout", "-q", "-b", "side")
	r.WriteFile("x", "side\n")
	r.Commit("side")
	r.Run("checkout", "-q", "main")
	r.WriteFile("x", "main\n")
	r.Commit("main")
	if _, err := r.Try("merge", "-q", "side"); err == nil {
		tb.Fatal("no conflict")
	}
	r.WriteFile("y", "y\n")
	return r
}

// write writes a file whose name need not be UTF-8.
func write(tb testing.TB, r *gittest.Repository, name, content string) {
	tb.Helper()
	file := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		tb.Fatal(err)
	}
	// In place, so that the mode of an existing file is kept.
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// shell runs a script in the working tree.
func shell(tb testing.TB, r *gittest.Repository, script string) {
	tb.Helper()
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func abs(r *gittest.Repository, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Dir, name)
}

func readIndex(tb testing.TB, r *gittest.Repository) []byte {
	tb.Helper()
	data, err := os.ReadFile(abs(r, r.Run("rev-parse", "--git-path", "index")))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}
