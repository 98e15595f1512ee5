package events_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
)

// Two branches set the temperature, a third does not. In whatever order they are merged, the
// third's turn ran without it.
func TestMergeNotesWhatATurnRanWithout(t *testing.T) {
	commits := map[string]string{"o": "1", "b": "1 db 2", "c": "1 dc 3", "a": "1 4"}
	ways := []string{
		"x=o,a,b r=o,x,c", "x=o,b,a r=o,c,x", "x=o,a,c r=o,x,b",
		"x=o,b,c r=o,x,a", "x=o,b,c r=o,a,x",
	}
	sameWays(t, commits, ways, "1 db 2 dc 3 4")
	s := walkWay(t, commits, ways[0])
	for i, want := range []string{`{}`, `{"x":"b"}`, `{"x":"c"}`, `{}`} {
		if got := ranWith(t, s, i); got != want {
			t.Errorf("turn %d ran under %s, not %s", i, got, want)
		}
	}
	if next, _ := settings.InForce(s, settings.Config{}, s.Len(), 0); string(next.Plain()) != `{"x":"c"}` {
		t.Errorf("the next question runs under %s", next.Plain())
	}
}

// A file of an earlier merge without such notes is merged as it is read.
func TestMergeWithoutNotesOfWhatATurnRanWithout(t *testing.T) {
	commits := map[string]string{"o": "1", "x": "1 db 2 4", "c": "1 3"}
	sameWays(t, commits, []string{"r=o,x,c", "r=o,c,x"}, "1 db 2 4 3")
	if s := walkWay(t, commits, "r=o,x,c"); !strings.Contains(string(s.Encode()), "unset") {
		t.Errorf("nothing says that turn 3 ran without: %s", s.Encode())
	}
}

// ranWith returns the settings that a turn ran with: those in force where it begins, without what its
// turn_start lists.
func ranWith(t *testing.T, s *events.Stream, turn int) string {
	t.Helper()
	first := s.Turns()[turn].First
	config, err := settings.InForce(s, settings.Config{}, first, 0)
	if err != nil {
		t.Fatal(err)
	}
	var unset []string
	if v, ok := s.At(first).Metadata().Value(events.MetadataUnset); ok {
		if err := json.Unmarshal(v, &unset); err != nil {
			t.Fatal(err)
		}
	}
	return string(config.WithoutPointers(unset).Plain())
}
