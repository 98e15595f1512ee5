//go:build unix

package git

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/environ"
)

// TestOutputOfGitThatLeavesAChild runs a git that leaves a process behind which has its output
// open, as ssh does that keeps a connection: what git wrote is the answer, and nobody waits for the
// process.
func TestOutputOfGitThatLeavesAChild(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho out\necho said >&2\n" +
		"(n=0; until test -e go || test $n = 600; do sleep 0.1; n=$((n+1)); done; : >late) &\n" +
		"for code; do :; done; exit $code\n" // the last argument
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Cleanup(func() {
		err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600)
		if err != nil || !appears(filepath.Join(dir, "late")) {
			t.Errorf("the child does not end: %v", err)
		}
	})
	r := &Runner{Dir: dir, Env: environ.List(os.Environ())}
	for code, want := range []string{"<nil>", "git 1: said"} {
		out, said, err := r.RunWarned(t.Context(), Command{Args: []string{fmt.Sprint(code)}})
		if string(out) != "out\n" || said != "said\n" || fmt.Sprint(err) != want {
			t.Errorf("got %q, %q, %v, want %s", out, said, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "late")); err == nil {
		t.Error("the child was waited for")
	}
}

// appears waits for a file.
func appears(name string) bool {
	for range 400 {
		if _, err := os.Stat(name); err == nil {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}
