package compactor

import (
	"slices"
	"testing"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
)

// TestSpecReadsRulesBeforeStrategies checks how an argument is parsed: as a rule of the overlay if
// it is one, else as names of strategies.
func TestSpecReadsRulesBeforeStrategies(t *testing.T) {
	var s Spec
	if s.Wanted() {
		t.Error("the zero value compacts something")
	}
	for _, text := range []string{"r", "dedup-tools+strip-reasoning", "t=omit:1..3"} {
		if err := s.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"dedup-tools", "strip-reasoning"}; !slices.Equal(s.Strategies, want) {
		t.Errorf("strategies %q, want %q", s.Strategies, want)
	}
	if len(s.Rules) != 2 || !s.Rules[0].Reasoning || !s.Rules[1].Ranged {
		t.Errorf("rules %+v", s.Rules)
	}
	if err := s.Add("dedup-tools+nothing"); err == nil || len(s.Strategies) != 2 {
		t.Errorf("an unknown strategy: %v, %q", err, s.Strategies)
	}
}

// TestRulesKeepTheirOwnTurns checks that turns of the command line limit only the rules without
// turns, and that configured rules are used if there are no others.
func TestRulesKeepTheirOwnTurns(t *testing.T) {
	ranged, err := compact.ParsePolicy("r:2..3")
	if err != nil {
		t.Fatal(err)
	}
	from, to := events.FirstTurns(7)
	r := Rules{Policies: []compact.Policy{ranged, compact.DefaultPolicy()}, From: &from, To: &to}
	all := r.bounded(nil)
	if all[0] != ranged {
		t.Errorf("the rule with turns of its own became %+v", all[0])
	}
	if all[1].From != from || all[1].To != to {
		t.Errorf("the rule without turns is bounded by %v and %v", all[1].From, all[1].To)
	}
	if r.Policies[1].To == to {
		t.Error("the rules that were given are changed")
	}
	configured := []compact.Policy{compact.DefaultPolicy()}
	if all := (Rules{}).bounded(configured); len(all) != 1 || all[0] != configured[0] {
		t.Errorf("without rules %+v count", all)
	}
}
