package intake_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/intake"
	"github.com/git-jp/git-jp/internal/render"
)

// TestNothingIsImportedBeforeSomebodyAgreed verifies that a clone is asked about once, and that
// without a terminal the answer is no.
func TestNothingIsImportedBeforeSomebodyAgreed(t *testing.T) {
	r := gittest.Repo(t)
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	in := intake.Intake{
		Importer: new(importer.Importer), Terminal: new(ask.Terminal),
		Repo: func(context.Context) (*gitint.Repo, error) { return repo, nil },
	}
	found := []importer.Found{{}}
	refused := func() bool {
		_, ok := errors.AsType[*ask.UnconfirmedError](in.Agree(t.Context(), found, false))
		return ok
	}
	if !refused() || !errors.Is(intake.Agreed(repo), intake.ErrNotAgreed) {
		t.Error("nobody agreed, and sessions may be imported")
	}
	if err := in.Agree(t.Context(), found, true); err != nil {
		t.Fatal(err)
	}
	if refused() || intake.Agreed(repo) != nil {
		t.Error("the agreement was forgotten")
	}
	in.Repo = func(context.Context) (*gitint.Repo, error) { return nil, gitint.ErrNotRepository }
	if err := in.Agree(t.Context(), found, true); err != nil {
		t.Fatal(err)
	}
	if !refused() {
		t.Error("an agreement outside of a clone holds for the next import")
	}
}

// TestNotImportedAreCountedByAgent tests how a status shows the sessions that wait.
func TestNotImportedAreCountedByAgent(t *testing.T) {
	var out bytes.Buffer
	err := intake.PrintNotImported(&render.Printer{Out: &out}, []intake.Record{
		{Session: "codex-1", State: "new"},
		{Session: "claude-code-1", State: "grown"},
		{Session: "claude-code-2", State: "new"},
		{Session: "claude-code-3", State: "new"},
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err != nil || len(lines) != 3 ||
		strings.TrimSpace(lines[1]) != "claude-code  2 new, 1 grown" ||
		strings.TrimSpace(lines[2]) != "codex        1 new" {
		t.Errorf("%v, printed %q", err, lines)
	}
}
