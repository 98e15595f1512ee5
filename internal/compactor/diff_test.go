package compactor

import (
	"testing"

	"github.com/git-jp/git-jp/internal/query"
)

// TestTitlesSayWhatChanges checks the line above each difference.
func TestTitlesSayWhatChanges(t *testing.T) {
	was, is := "a tool's result", "cut"
	for want, change := range map[string]query.Change{
		"diff turn 3, result of cat (c1), 15 bytes → 3 bytes, by strip-tool-results": {
			Piece: query.Piece{
				What: query.PieceResult, Tool: "cat", Call: "c1", From: 3, To: 3,
			},
			By: []string{"strip-tool-results"}, Was: &was, Is: &is,
		},
		"diff turns 1–4, summary, 3 bytes new, by overlay": {
			Piece: query.Piece{What: query.PieceSummary, From: 1, To: 4},
			By:    []string{"overlay"}, Is: &is,
		},
		"diff turn 2, attachment (file:///w/a.go), 15 bytes gone, by r, s": {
			Piece: query.Piece{
				What: query.PieceAttachment, URI: "file:///$WORKSPACE/a.go", From: 2, To: 2,
			},
			By: []string{"r", "s"}, Was: &was,
		},
		"diff definition of cat, gone, by prune-tools": query.WithoutTools([]string{"cat"})[0],
	} {
		if got := titleOf(change, "/w"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
