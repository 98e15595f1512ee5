package stats_test

import (
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/stats"
	"github.com/google/go-cmp/cmp"
)

// TestResumedTurns: turns of an agent after an export are the agent's, and count once if the person
// went back in it, in whichever conversation they are read first; turns that the export repeats
// cost nothing.
func TestResumedTurns(t *testing.T) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	turn := func(session, key, text string, u compact.Usage) []*events.Element {
		at = at.Add(time.Minute)
		md := compact.WithUsage(events.Metadata{}, u)
		if key != "" {
			md = md.WithText(events.MetadataSource, key)
		}
		start := events.NewElement(at, &events.TurnStart{}, events.Metadata{})
		if session != "" {
			start = start.InSession(session)
		}
		return []*events.Element{start, events.NewElement(at, &events.ChatResponse{Text: text}, md)}
	}
	const session = "claude-code-1"
	own := turn("", "", "First.", compact.Usage{Input: 10, Output: 1, Model: "m"})
	behind := turn(session, "k", "The [redacted:word].", compact.Usage{Input: 100, Output: 2, Model: "m"})
	again := turn("", "k", "The word.", compact.Usage{Input: 100, Output: 2, Model: "m"})
	subjects := []stats.Subject{
		{ID: 1, Stream: events.New(append(own, behind...)...)},
		{ID: 2, Agent: events.AgentOf(session), Stream: events.New(
			append(turn("", "copy", "First.", compact.Usage{Model: "m"}), again...)...)},
	}
	table, err := models.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		l := stats.NewLedger(stats.ByAgent, time.UTC, table)
		for _, i := range order {
			if err := l.Add(subjects[i]); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string][2]int64{}
		for _, r := range l.Rows() {
			got[r.Name] = [2]int64{int64(r.Answers), r.Input}
		}
		want := map[string][2]int64{"(none)": {1, 10}, "claude-code": {1, 100}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
