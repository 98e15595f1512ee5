package events_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/google/go-cmp/cmp"
)

// TestMergeKeepsPairsTogether checks conflicts about one half of a call, or of a tool's question,
// that the other side removed: whoever decides gets both halves or neither.
func TestMergeKeepsPairsTogether(t *testing.T) {
	const (
		request = `{"timestamp":"2026-01-01 00:00:02.0","type":"tool_call_request","id":"c","name":"x",` +
			`"arguments":{"n":%q}}`
		response = `{"timestamp":"2026-01-01 00:00:03.0","type":"tool_call_response","id":"c",` +
			`"content":%q,"is_error":false}`
		question = `{"timestamp":"2026-01-01 00:00:02.0","type":"inquiry_request","id":"c",` +
			`"source":{"source":"tool","name":"x"},"question":{"text":%q,"answer_type":{"type":"text"}}}`
		answer = `{"timestamp":"2026-01-01 00:00:03.0","type":"inquiry_response","id":"c","answer":%q}`
	)
	turn := func(inner ...string) threeway.Side {
		all := append([]string{
			`{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"}`,
			`{"timestamp":"2026-01-01 00:00:01.0","type":"chat_request","content":"q"}`,
		}, inner...)
		all = append(all, `{"timestamp":"2026-01-01 00:00:09.0","type":"chat_response","message":"a"}`)
		s, err := events.Decode([]byte("[" + strings.Join(all, ",") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		return threeway.Side{Stream: s}
	}
	for _, tt := range []struct{ name, first, second string }{
		{"call", request, response}, {"question", question, answer},
	} {
		first, second := fmt.Sprintf(tt.first, "one"), fmt.Sprintf(tt.second, "one")
		base, removed := turn(first, second), turn()
		first2, second2 := fmt.Sprintf(tt.first, "two"), fmt.Sprintf(tt.second, "two")
		both, err := threeway.Merge(base, turn(first, second2),
			turn(first2, fmt.Sprintf(tt.second, "three")))
		if err != nil || len(both.Conflicts) != 1 {
			t.Fatalf("%s: %v, %d conflicts, want 1", tt.name, err, len(both.Conflicts))
		}
		ours, err := threeway.Resolve(both.Stream, both.Conflicts[0], threeway.Choice(0))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(raws(turn(first2, second2).Stream), raws(ours)); diff != "" {
			t.Errorf("%s: the half that only theirs changed is not taken: %s", tt.name, diff)
		}
		for half, changed := range map[string]threeway.Side{
			"second": turn(first, second2),
			"first":  turn(first2, second),
		} {
			for side, sides := range map[string][2]threeway.Side{
				"ours": {changed, removed}, "theirs": {removed, changed},
			} {
				t.Run(tt.name+"/"+half+"/"+side, func(t *testing.T) {
					r, err := threeway.Merge(base, sides[0], sides[1])
					if err != nil {
						t.Fatal(err)
					}
					if len(r.Conflicts) != 1 {
						t.Fatalf("%d conflicts, want 1", len(r.Conflicts))
					}
					for i, want := range sides {
						s, err := threeway.Resolve(r.Stream, r.Conflicts[0], threeway.Choice(i))
						if err != nil {
							t.Fatal(err)
						}
						if diff := cmp.Diff(raws(want.Stream), raws(s)); diff != "" {
							t.Errorf("choice %d: %s", i, diff)
						}
					}
				})
			}
		}
	}
}

func raws(s *events.Stream) (all []string) {
	for _, e := range s.All() {
		all = append(all, string(e.Raw()))
	}
	return all
}
