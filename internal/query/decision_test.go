package query_test

import (
	"math"
	"testing"
	"time"

	"github.com/git-jp/git-jp/compact"
)

// TestTrimmingTellsTheArithmetic checks that the explained decision is the one that is made, with
// consistent figures, also where a turn would not search because it could not trim.
func TestTrimmingTellsTheArithmetic(t *testing.T) {
	for _, schedule := range compact.Schedules() {
		for name, wait := range map[string]time.Duration{"warm": time.Minute, "cold": time.Hour} {
			k := newTrimmed(t, compact.Never)
			k.trim.Market.Minimum = 1
			k.ask(t, 0)
			k.ask(t, time.Minute)
			k.at, k.trim.Schedule = k.at.Add(wait), schedule
			turn := k.stage.turn(k.model, k.tools)
			turn.Now, turn.Trim = func() time.Time { return k.at }, k.trim
			before := string(turn.Record.Stream().Encode())
			d, ok, err := turn.Trimming(ask("and now?"))
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			cold := name == "cold"
			if d.Results != 1 || d.Tokens <= 0 || d.Tail < d.Tokens || d.Prompt < d.Tail || d.Cold != cold {
				t.Errorf("%s, %s: %+v", schedule, name, d)
			}
			want := schedule == compact.Eager || cold && schedule != compact.Never
			if d.Trim != want && schedule != compact.Balanced {
				t.Errorf("%s, %s: it trims is %v: %s", schedule, name, d.Trim, d.Why)
			}
			if got := 0.3 * d.Carried / 1e6; math.Abs(got-*d.CarriedUSD) > 1e-12 || d.Carried < d.Tokens {
				t.Errorf("%s, %s: %g tokens were carried for $%g", schedule, name, d.Carried, *d.CarriedUSD)
			}
			if got := 3.45 * (d.Tail - d.Tokens) / 1e6; math.Abs(got-*d.AgainUSD) > 1e-12 {
				t.Errorf("%s, %s: sending again is $%g, want $%g", schedule, name, *d.AgainUSD, got)
			}
			if d.Asked.IsZero() || d.Gone != 5*time.Minute || d.Money == nil || d.Money.Cold != cold {
				t.Errorf("%s, %s: %+v", schedule, name, d)
			}
			if string(turn.Record.Stream().Encode()) != before {
				t.Errorf("%s, %s: the record was changed", schedule, name)
			}
			k.ask(t, 0)
			if trimmed := len(k.notes) > 0; trimmed != d.Trim {
				t.Errorf("%s, %s: told is %v, and done %v", schedule, name, d.Trim, k.notes)
			}
		}
	}
}

// TestTrimmingOfNothing checks the explanation if nothing is superseded, and if trimming is off.
func TestTrimmingOfNothing(t *testing.T) {
	k := newTrimmed(t, compact.Eager)
	turn := k.stage.turn(k.model, k.tools)
	turn.Now, turn.Trim = func() time.Time { return k.at }, k.trim
	d, ok, err := turn.Trimming(ask("q"))
	if err != nil || !ok || d.Trim || d.Results != 0 || d.Why != "nothing is superseded" || !d.Asked.IsZero() {
		t.Errorf("%+v, %v, %v", d, ok, err)
	}
	turn.Trim = nil
	if _, ok, err := turn.Trimming(ask("q")); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}
