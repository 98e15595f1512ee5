package workspace_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/workspace"
)

// TestWhatWasNotFound checks that a directory that matches is named, with its files if they are few.
func TestWhatWasNotFound(t *testing.T) {
	files := []string{"a", "b", "c", "d"}
	for want, e := range map[string]workspace.NotFoundError{
		`no conversation "x"`:                             {Arg: "x"},
		`no conversation "x": dir has only a, b, c`:       {Arg: "x", Dir: "dir", Files: files[:3]},
		`no conversation "x": dir has only 4 other files`: {Arg: "x", Dir: "dir", Files: files},
		"no active conversation in this session":          {Arg: "."},
		"no previous conversation in this session":        {Arg: "-"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
