package events_test

import (
	"slices"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
)

func at(seconds int) time.Time {
	return time.Date(2026, 1, 2, 3, 4, seconds, 5000, time.UTC)
}

func keyed() *events.Stream {
	return events.New(
		events.NewElement(at(0), &events.ConfigDelta{}, events.Metadata{}),
		events.NewElement(at(1), &events.TurnStart{}, events.Metadata{}),
		events.NewElement(at(2), &events.ChatRequest{Content: "hello"}, events.Metadata{}),
		events.NewElement(at(3), &events.ChatResponse{Form: events.FormReasoning, Text: "r"},
			events.Metadata{}),
		events.NewElement(at(3), &events.ChatResponse{Text: "one"}, events.Metadata{}),
		events.NewElement(at(3), &events.ChatResponse{Text: "two"}, events.Metadata{}),
		events.NewElement(at(4), &events.ToolCallRequest{ID: "a", Name: "ls"}, events.Metadata{}),
		events.NewElement(at(4), &events.ToolCallRequest{ID: "b", Name: "ls"}, events.Metadata{}),
		events.NewElement(at(5), &events.ToolCallResponse{ID: "a"},
			events.Metadata{}.WithText(events.MetadataSource, "uuid-7.2")),
	)
}

// TestKeysAreThoseOfTheFormat pins the form of keys, which links and committed files hold.
func TestKeysAreThoseOfTheFormat(t *testing.T) {
	want := []string{
		"0-1767323040000005-config_delta-314e7705",
		"1767323041000005-1767323041000005-turn_start-e19170a4",
		"1767323041000005-1767323042000005-chat_request-7182348c",
		"1767323041000005-1767323043000005-reasoning-c3bffa01",
		"1767323041000005-1767323043000005-message-cd61d451",
		"1767323041000005-1767323043000005-message-cd61d451~2",
		"1767323041000005-1767323044000005-tool_call_request-ff2fcd98",
		"1767323041000005-1767323044000005-tool_call_request-4b1b8fff",
		"uuid-7.2",
	}
	if got := keyed().Keys(); !slices.Equal(got, want) {
		t.Errorf("keys are\n%q\nwant\n%q", got, want)
	}
}

// TestKeysStay checks that keys do not change when texts change, reasoning is removed, the file is
// read again, or turns are inserted before.
func TestKeysStay(t *testing.T) {
	s := keyed()
	keys := s.Keys()
	s.Set(4, s.At(4).With(&events.ChatResponse{Text: "[redacted:x]"}))
	s.Remove(3, 1)
	earlier := events.New(
		events.NewElement(at(-9), &events.TurnStart{}, events.Metadata{}),
		events.NewElement(at(-9), &events.ChatRequest{Content: "before"}, events.Metadata{}),
	)
	for i := range earlier.Len() {
		s.Insert(1+i, earlier.At(i))
	}
	read, err := events.Decode(s.Encode())
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Delete(slices.Clone(keys), 3, 4)
	if got := slices.Delete(read.Keys(), 1, 3); !slices.Equal(got, want) {
		t.Errorf("keys are\n%q\nwant\n%q", got, want)
	}
}

// TestKeysOfRecords checks that an element that is not an event takes its key from the source's
// key, and that one without time or type has a key too.
func TestKeysOfRecords(t *testing.T) {
	s, err := events.Decode([]byte(`[
  {"type": "git_jp_agent_record", "git_jp_source": "line-4", "timestamp": "2026-01-01 00:00:00.0"},
  {"git_jp_source": 7},
  {"git_jp_source": ""}
]`))
	if err != nil {
		t.Fatal(err)
	}
	keys := s.Keys()
	if keys[0] != "line-4" || keys[1] == "" || keys[2] != keys[1]+"~2" {
		t.Errorf("keys are %q", keys)
	}
}
