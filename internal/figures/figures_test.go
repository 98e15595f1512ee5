package figures_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/figures"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stats"
)

// In a narrow terminal figures are left out of tables, and names stay complete.
func TestNarrowTablesKeepNames(t *testing.T) {
	const width = 40
	var out strings.Builder
	p := figures.Printer{
		Out: &out, Output: render.Output{Terminal: true, Width: width}, Terminal: true, By: "tool",
	}
	share := compact.Share{Name: "fs_modify_file", Count: 78, Bytes: 137_000, Tokens: 48_209}
	steps := compact.Report{
		Steps: []compact.Step{{Strategy: "strip-tool-results", Reason: "of no use any more"}},
		Tools: []compact.ToolSaving{{Tool: "fs_modify_file", Events: 38, Bytes: 61_000, Tokens: 1e6}},
	}
	for _, err := range []error{
		p.Stats(compact.Stats{Tools: []compact.Share{share}, Tokens: 302_414}),
		p.Steps(steps),
		p.Spending([]stats.Row{{Name: "fs_modify_file", Conversations: 3, Answers: 12, USD: 1}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(out.String(), "fs_modify_file "); n != 3 {
		t.Errorf("%d complete names:\n%s", n, &out)
	}
	if !strings.Contains(out.String(), "Tool            Events   Bytes   Tokens\n") {
		t.Errorf("a bar is not left out first:\n%s", &out)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line); n > width+1 && !strings.HasPrefix(line, "Tokens:") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
