package events_test

import (
	"strings"
	"testing"
)

// TestSummaryOfWhatGoesOn: a summary covers a turn that the other side continued, so it lacks the
// continuation. The merge warns about that, but not about a turn after it.
func TestSummaryOfWhatGoesOn(t *testing.T) {
	for _, tt := range []struct {
		base, ours, theirs string
		warns              bool
	}{
		{"1 2-", "1 2- s0..1", "1 2", true},
		{"1 2-", "1 2- c0..1", "1 2", false},
		{"1 2", "1 2 s0..1", "1 2 3", false},
		{"1 2- s0..1", "1 2- s0..1", "1 2 s0..1", false},
	} {
		for range 2 {
			r := merged(t, talk(t, tt.base), talk(t, tt.ours), talk(t, tt.theirs))
			text := strings.Join(r.Warnings, "\n")
			if got := strings.Contains(text, "covers a turn that the other side continued"); got != tt.warns {
				t.Errorf("%s | %s | %s: warnings are %q", tt.base, tt.ours, tt.theirs, text)
			}
			tt.ours, tt.theirs = tt.theirs, tt.ours
		}
	}
}
