//go:build unix

package gittest_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

func TestRanAsUser(t *testing.T) {
	for _, name := range []string{"one", "a name (with) signs", "one/below"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if gittest.RanAsUser(t) {
				return
			}
			closed := filepath.Join(t.TempDir(), "closed")
			if err := os.WriteFile(closed, []byte("x"), 0); err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(closed); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("read a closed file: got %v, want %v", err, fs.ErrPermission)
			}
			if _, err := os.ReadFile("user_test.go"); err != nil {
				t.Errorf("read a file of the package: %v", err)
			}
			r := gittest.Repo(t)
			r.WriteFile("x", "y")
			r.Commit("git works")
		})
	}
}

// outcomeEnv selects how TestOutcome ends.
const outcomeEnv = "GITTEST_OUTCOME"

func TestOutcome(t *testing.T) {
	outcome := os.Getenv(outcomeEnv)
	if outcome == "" || gittest.RanAsUser(t) {
		return
	}
	switch outcome {
	case "fail":
		t.Error("it failed")
	case "skip":
		t.Skip("it was skipped")
	case "end":
		os.Exit(0)
	}
}

// TestRanAsUserFails verifies that a test that does not pass as a user does not pass.
func TestRanAsUserFails(t *testing.T) {
	for _, outcome := range []string{"pass", "fail", "skip", "end"} {
		if os.Geteuid() != 0 && outcome != "pass" && outcome != "fail" {
			continue // there is no other process
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestOutcome$", "-test.v")
		cmd.Env = append(os.Environ(), outcomeEnv+"="+outcome)
		out, err := cmd.CombinedOutput()
		if got, want := err == nil, outcome == "pass"; got != want {
			t.Errorf("%s: passes: got %v, want %v\n%s", outcome, got, want, out)
		}
		if outcome == "fail" && !strings.Contains(string(out), "it failed") {
			t.Errorf("the output does not say why:\n%s", out)
		}
	}
}
