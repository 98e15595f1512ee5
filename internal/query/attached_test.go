package query

import (
	"fmt"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
)

// TestAttachedIsLinear checks that the declared attachments are not computed anew for each delta.
func TestAttachedIsLinear(t *testing.T) {
	cost := func(n int) float64 {
		all := []*events.Element{events.NewElement(time.Unix(0, 0), &events.ChatRequest{},
			withAttached(events.Metadata{}, []string{"file:a"}))}
		for i := range n {
			all = append(all, events.NewElement(time.Unix(0, 0), &events.ConfigDelta{
				Delta: fmt.Appendf(nil, `{"assistant":{"name":"%d"}}`, i),
			}, events.Metadata{}))
		}
		s := events.New(all...)
		return testing.AllocsPerRun(1, func() {
			found := Attached(s, settings.Config{}, func(settings.Config) []string { return nil })
			if len(found) != 1 {
				t.Fatalf("%v is attached", found)
			}
		})
	}
	if one, two := cost(500), cost(1000); two > 2.3*one {
		t.Errorf("500 deltas allocate %.0f times, 1,000 %.0f times", one, two)
	}
}
