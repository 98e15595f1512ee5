package stats_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/stats"
)

// TestAnswersCountUnderWhatWasAsked verifies that an answer of several calls counts under what came
// before all of them, although an agent has results of the first before it makes the last.
func TestAnswersCountUnderWhatWasAsked(t *testing.T) {
	s := events.New()
	add := func(ev events.Event, md events.Metadata) {
		at := time.Date(2026, 1, 1, 0, s.Len(), 0, 0, time.UTC)
		s.Append(events.NewElement(at, ev, md.WithText(events.MetadataSource, fmt.Sprint(s.Len()))))
	}
	used := compact.WithUsage(events.Metadata{}, compact.Usage{Input: 10, Output: 1})
	add(&events.TurnStart{}, events.Metadata{})
	add(&events.ChatRequest{Content: "q"}, events.Metadata{})
	for id, md := range []events.Metadata{{}, used} {
		name := []string{"Read", "Bash"}[id]
		add(&events.ToolCallRequest{ID: name, Name: name}, md)
		add(&events.ToolCallResponse{ID: name, Blocks: []events.Block{{
			Type: events.BlockText, Content: blobs.Loaded([]byte(strings.Repeat("x", 9-id))),
		}}}, events.Metadata{})
	}
	add(&events.ChatResponse{Text: "a"}, used)
	all, err := stats.Answers(stats.Subject{Stream: s}, nil)
	if err != nil || len(all) != 2 {
		t.Fatal(err, len(all))
	}
	if all[0].Tool != "" || all[1].Tool != "Read" {
		t.Errorf("they count under %q and %q", all[0].Tool, all[1].Tool)
	}
}
