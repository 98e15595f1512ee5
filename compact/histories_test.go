package compact_test

import (
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// TestHistoriesKnowWhatAnOverlayHides checks that a request which was sent before an overlay was
// written has its original cost, and that each request counts once.
func TestHistoriesKnowWhatAnOverlayHides(t *testing.T) {
	k := new(talk).turn("1").call("Bash", `{}`, long).say("m").turn("2").say("m")
	plain := k.stream()
	words := "short"
	summary := k.add(&events.Compaction{FromTurn: 0, ToTurn: 1, Summary: &words}).
		turn("3").say("m").turn("4").say("m").stream()
	cost := func(s *events.Stream) compact.Cost {
		all, err := compact.Histories(s, compact.ObsoleteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return compact.ReplayAll(all, compact.Never, market(), market().Promised())
	}
	before, after := cost(plain), cost(summary)
	if before.Calls != 3 || after.Calls != 5 || after.Sent <= before.Sent || after.USD <= before.USD {
		t.Errorf("before the overlay %+v, behind it %+v", before, after)
	}
	if c := cost(events.New()); c.Calls != 0 {
		t.Errorf("nothing costs %+v", c)
	}
}
