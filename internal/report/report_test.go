package report

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/query"
)

// TestModelHints verifies that a model's error comes with a way out, however deep the error is
// wrapped, and that an error that no command can fix has no hint.
func TestModelHints(t *testing.T) {
	key := llm.APIError{Provider: "openai", Status: 401}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&key, "OPENAI_API_KEY"},
		{&llm.APIError{Provider: "anthropic", Status: 404}, "git jp models anthropic"},
		{&llm.OverflowError{Model: "m"}, "git jp compact"},
		{&llm.UnsupportedError{Model: "m", What: "image/tiff"}, "git jp attachment rm"},
		{&models.NameError{Name: "m", Reason: "unknown"}, "git jp models"},
	} {
		got := hints(fmt.Errorf("ask: %w", tt.err))
		if len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%v: hints %q, expected one with %q", tt.err, got, tt.want)
		}
	}
	// Only a question that is in a conversation can be asked again by continuing it.
	busy := &llm.APIError{Provider: "openai", Status: 429, Retryable: true}
	for err, want := range map[error]string{
		busy:                                    "the same command asks again",
		&query.AskedError{Err: busy}:            "'git jp query -E' asks again",
		&query.EmptyError{}:                     "the same command asks again",
		&query.AskedError{Err: query.ErrCycles}: "'git jp query -E' lets it go on",
	} {
		if got := hints(err); len(got) != 1 || got[0] != want {
			t.Errorf("%v: hints %q, expected %q", err, got, want)
		}
	}
	none := &llm.APIError{Provider: "openai", Status: 429}
	if got := hints(none); got != nil {
		t.Errorf("%v: hints %q", none, got)
	}
}

// Names that others chose are harmless in a command that a user pastes into a shell.
func TestHintsForGit(t *testing.T) {
	for want, err := range map[string]error{
		`safe.directory '/a/$(exit)'`: &gitint.UnsafeError{Dir: "/a/$(exit)"},
		"GIT_DIR='/a b'":              &gitint.EmbeddedError{Dir: "/a b"},
		"GIT_DIR=/a/b":                &gitint.EmbeddedError{Dir: "/a/b"},
		"install git":                 &gitint.ExitError{Code: -1, Err: exec.ErrNotFound},
	} {
		got := hints(fmt.Errorf("open: %w", err))
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%v: hints %q, expected one with %q", err, got, want)
		}
	}
	killed := &gitint.ExitError{Code: -1, Err: errors.New("signal: killed")}
	if got := hints(killed); got != nil {
		t.Errorf("%v: hints %q", killed, got)
	}
}

// A path in another's commit may be longer than any line that a person reads.
func TestLinesOfErrorsAreShort(t *testing.T) {
	var out strings.Builder
	code := Print(&out, fmt.Errorf("read %s: gone\nand more", strings.Repeat("ä/", 3000)))
	first, rest, _ := strings.Cut(out.String(), "\n")
	if code != ExitProblems || rest != "  and more\n" || len(first) > 2060 ||
		!strings.HasPrefix(first, "error: read ä/ä/") || !strings.HasSuffix(first, "ä/: gone") ||
		!utf8.ValidString(first) {
		t.Errorf("exit %d, %q", code, out.String())
	}
}
