package prepare

import "testing"

// TestWhoGoesOnAfterALimit checks that either the adapter or the turn continues an answer, never
// both.
func TestWhoGoesOnAfterALimit(t *testing.T) {
	for id, want := range map[string]int{"anthropic/m": -1, "openai/m": 0, "ollama/m": 0} {
		q := &Query{Model: unasked(id)}
		if got := q.continues(); got != want {
			t.Errorf("%s: continues %d, expected %d", id, got, want)
		}
	}
}
