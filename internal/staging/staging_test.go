package staging

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stage"
)

// TestStagedWord verifies that a conversation whose directory was renamed is changed, and not
// removed or added.
func TestStagedWord(t *testing.T) {
	for paths, want := range map[string]string{
		"A": "added", "AA": "added", "D": "removed", "DD": "removed", "M": "changed",
		"AD": "changed", "DA": "changed", "AM": "changed",
	} {
		word := ""
		for _, status := range []byte(paths) {
			word = stagedWord(word, gitint.StagedPath{Status: status})
		}
		if word != want {
			t.Errorf("%s: %s, want %s", paths, word, want)
		}
	}
}

// TestStagesAreSummed tests the sentences of a stage, and the sum below several.
func TestStagesAreSummed(t *testing.T) {
	var out bytes.Buffer
	s := Stage{Printer: &render.Printer{Out: &out}, DryRun: true}
	err := s.Print(&stage.Plan{Items: []stage.Item{
		{ID: 17, Title: "one", Path: "p", Files: []string{"a", "b", "c"}, Blobs: 1, Bytes: 5},
		{ID: 18, Removed: []string{"d", "e"}},
	}})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err != nil || len(lines) != 3 ||
		!strings.HasSuffix(lines[0], ` "one": 2 files, 1 blob (5 bytes)`) ||
		!strings.HasSuffix(lines[1], ": removed, 2 paths") ||
		lines[2] != "2 conversations: 2 files, 1 blob (5 bytes), 2 paths removed" {
		t.Errorf("%v, printed %q", err, lines)
	}
}

// TestStatusShowsSomeFindings verifies that the first of many findings of a conversation are shown,
// and the number of the rest.
func TestStatusShowsSomeFindings(t *testing.T) {
	all := []*StatusRecord{{ID: "jp-c1", Findings: []string{"a", "b", "c", "d", "e"}}}
	for verbose, want := range map[bool]int{false: maxFindings + 1, true: 5} {
		var out bytes.Buffer
		err := PrintStatus(&render.Printer{Out: &out, Verbose: verbose}, all)
		if n := strings.Count(out.String(), "jp-c1"); err != nil || n != want {
			t.Errorf("verbose is %v: %v, printed %s", verbose, err, out.String())
		}
		if more := strings.Contains(out.String(), "and 2 more"); more == verbose {
			t.Errorf("verbose is %v, printed %s", verbose, out.String())
		}
	}
}
