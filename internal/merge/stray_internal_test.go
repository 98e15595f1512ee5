package merge

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
)

// TestPatched checks which conversations a patch names, whatever the length of its lines.
func TestPatched(t *testing.T) {
	const file = ".jp/conversations/17800000001-one/events.json"
	long := strings.Repeat("x", 64<<10-1) // a part of the line begins after it
	for _, c := range []struct {
		patch string
		want  []events.ID
	}{
		{"", nil},
		{"diff --git a/README b/README\n", nil},
		{"+" + long + "--- a/" + file + "\n", nil},
		{"+" + long + "\n+++ b/" + file, []events.ID{17800000001}},
	} {
		got, err := patched(strings.NewReader(c.patch))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%.40q: got %v, %v; want %v", c.patch, got, err, c.want)
		}
	}
}
