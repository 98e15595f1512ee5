package compact_test

import (
	"errors"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// TestUndoLeavesWhatAgentsRecorded checks by the place and the form of a compaction whether an undo
// removes it.
func TestUndoLeavesWhatAgentsRecorded(t *testing.T) {
	own, ours := "what the agent knows", "s\n\nWhat the user asked, word for word:\n\n> q"
	summary := func(to int, text string) *events.Compaction {
		return &events.Compaction{ToTurn: to, Summary: &text}
	}
	for _, tt := range []struct {
		name   string
		agents []int // turns that an agent's source has
		after  int   // the turn that the compaction follows
		c      *events.Compaction
		stays  bool
	}{
		{"in its turn", []int{0, 1}, 1, summary(1, own), true},
		{"before its first turn, after an export", []int{2}, 1, summary(1, own), true},
		{"after the last turn", []int{0, 1, 2}, 2, summary(2, own), true},
		{"of a turn that no agent had", []int{0}, 2, summary(2, own), false},
		{"of earlier turns", []int{0, 1, 2}, 2, summary(1, own), false},
		{"written here", []int{0, 1, 2}, 2, summary(2, ours), false},
		{"reasoning", []int{0, 1, 2}, 2, &events.Compaction{ToTurn: 2, StripReasoning: true}, false},
		{"with reasoning", []int{0}, 0, &events.Compaction{Summary: &own, StripReasoning: true}, false},
		{"with calls", []int{0}, 0, &events.Compaction{Summary: &own, ToolCalls: new(events.ToolCallPolicy)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := events.New()
			for n := range 3 {
				var md events.Metadata
				for _, turn := range tt.agents {
					if turn == n {
						md = md.WithText(events.MetadataSource, string(rune('a'+n)))
					}
				}
				s.Append(events.NewElement(second(n), &events.TurnStart{}, events.Metadata{}),
					events.NewElement(second(n), &events.ChatRequest{Content: "q"}, md))
				if n == tt.after {
					s.Append(events.NewElement(second(n), tt.c, events.Metadata{}))
				}
			}
			for _, n := range []int{-1, 0, 1} {
				out, gone, err := compact.RemoveOverlay(s, n)
				if !tt.stays {
					if err != nil || len(gone) != 1 || out.Len() != s.Len()-1 {
						t.Errorf("%d: removed %d, %v", n, len(gone), err)
					}
				} else if recorded, ok := errors.AsType[*compact.RecordedError](err); !ok ||
					recorded.ToTurn != tt.c.ToTurn {
					t.Errorf("%d: %v", n, err)
				}
			}
			if compact.LastOverlay(s).IsZero() != tt.stays {
				t.Errorf("the last one is of %s", compact.LastOverlay(s))
			}
		})
	}
}
