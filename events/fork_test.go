package events

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFork(t *testing.T) {
	const three = "D T q m D T q m U D T q m D "
	for _, test := range []struct {
		name   string
		opts   ForkOptions
		sketch string
		want   string
	}{
		{"all", ForkOptions{}, three + "C0-1r", three + "C0-1r"},
		{"first", ForkOptions{First: 1}, three, "D T q m U"},
		{"last", ForkOptions{Last: 1}, three, "D D U D T q m D"},
		{"both", ForkOptions{First: 1, Last: 1}, three, "D T q m D U D T q m D"},
		{"both meet", ForkOptions{First: 2, Last: 1}, three, three + ""},
		{"more than there are", ForkOptions{First: 9}, three, three},
		{"until", ForkOptions{Until: second(7)}, three, "D T q m U"},
		{"from", ForkOptions{From: second(6)}, three, "D D T q m U D T q m D"},
		{"from and until", ForkOptions{From: second(6), Until: second(11)}, three, "D D T q m U"},
		{"from, then first", ForkOptions{From: second(6), First: 1}, three, "D D T q m U"},
		{"none", ForkOptions{KeepNone: true, First: 1}, three + "C0-1r", "D D U D D"},
		{"nothing left", ForkOptions{Until: second(1)}, three, "D U"},
		{"legacy, first", ForkOptions{First: 1}, "D q m q m", "D T q m q m"},
		{"legacy, both", ForkOptions{First: 1, Last: 1}, "D q m q m", "D"},
		{"implicit turn goes", ForkOptions{First: 1}, "q m T q m T q r", "T q m"},
		{"implicit turn stays with all", ForkOptions{First: 2}, "q m T q T q", "T q m T q T q"},
		{"double start counts twice", ForkOptions{Last: 2}, "T q m T T q m", "T q m"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := sketch(sketched(t, test.sketch).Fork(test.opts))
			if want := joined(test.want); got != want {
				t.Errorf("Fork(%s)\n got %s\nwant %s", test.sketch, got, want)
			}
		})
	}
}

// joined removes the spaces between composed sketches.
func joined(sketch string) string {
	return string(bytes.Join(bytes.Fields([]byte(sketch)), []byte(" ")))
}

func TestForkCompactions(t *testing.T) {
	const four = "T q m T q m T q m T q m " // turn n begins in second 3n+1
	for _, test := range []struct {
		name       string
		opts       ForkOptions
		have, want string
	}{
		{"all stay", ForkOptions{}, "C0-1r C2-9s:x C5-9r C2-1r", "C0-1r C2-9s:x C5-9r C2-1r"},
		{"whole ranges stay", ForkOptions{First: 2}, "C0-1s:x C0-0r", "C0-1s:x C0-0r"},
		{"ranges that went go", ForkOptions{First: 2}, "C2-3s:x C2-2r", ""},
		{"ranges move along", ForkOptions{Last: 2}, "C2-2s:x C3-3o", "C0-0s:x C1-1o"},
		{"a summary goes with part of its turns", ForkOptions{Last: 2}, "C1-2s:x", ""},
		{"mechanical ones shrink", ForkOptions{Last: 2}, "C1-2r C0-3o", "C0-0r C0-1o"},
		{"a summary leaves its policies", ForkOptions{First: 1}, "C0-1rs:x", "C0-0r"},
		{
			"over the gap",
			ForkOptions{First: 1, Last: 1},
			"C0-3r C0-0s:x C3-3s:y", "C0-1r C0-0s:x C1-1s:y",
		},
		{"an open range ends here", ForkOptions{First: 2}, "C1-99r", "C1-1r"},
		{"an open summary too", ForkOptions{Last: 2}, "C3-99s:x", "C1-1s:x"},
		{"one for turns to come goes", ForkOptions{First: 2}, "C7-99r C2-1r", ""},
		{"part of a turn", ForkOptions{Until: second(6)}, "C1-1r C1-1s:x C0-0s:y", "C1-1r C0-0s:y"},
		{"none", ForkOptions{KeepNone: true}, "C0-3r C0-9s:x", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			fork := sketched(t, four+test.have).Fork(test.opts)
			var got []string
			for _, c := range fork.compactions() {
				got = append(got, sketchOfCompaction(c.Compaction))
			}
			if want := test.want; joined(want) != joined(joinWords(got)) {
				t.Errorf("compactions %q became %q, want %q", test.have, got, want)
			}
		})
	}
}

func joinWords(words []string) string {
	var b []byte
	for _, w := range words {
		b = append(append(b, w...), ' ')
	}
	return string(b)
}

// Sanitizing removes and adds turns, which moves ranges too.
func TestForkMovesWithSanitizing(t *testing.T) {
	for _, test := range []struct{ sketch, want string }{
		{"m T q m T q m C1-1s:x C0-0r C0-2r", "T q m T q m C0-0s:x C0-1r"},
		{"T T q m C1-1r", "T q m C0-0r"},
		{"T q m T C0-1s:x C1-1r", "T q m C0-0s:x"},
		{"T m C0-0r", "T T m C1-1r"},
		{"-a T m C0-0r C1-1r", "T T m C1-1r"},
	} {
		if got := sketch(sketched(t, test.sketch).Fork(ForkOptions{})); got != test.want {
			t.Errorf("Fork(%s)\n got %s\nwant %s", test.sketch, got, test.want)
		}
	}
}

// If times go back, selecting by time can remove the start of a turn and with it the border to the
// turn before. Then a turn of the fork holds events that a compaction covered and others that it
// did not.
func TestForkDoesNotCoverJoinedTurns(t *testing.T) {
	for _, test := range []struct{ have, want string }{
		{"C0-0r", ""},
		{"C1-1r", ""},
		{"C0-1r", "C0-0r"},
		{"C1-2r", "C1-1r"},
		{"C2-2s:x", "C1-1s:x"},
		{"C0-2s:x", ""},
	} {
		s := sketched(t, "T q m T@30 q m T q m "+test.have)
		want := joined("T q m q m T q m " + test.want)
		if got := sketch(s.Fork(ForkOptions{Until: second(20)})); got != want {
			t.Errorf("with %s the fork is\n%s, want\n%s", test.have, got, want)
		}
	}
}

func TestForkProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stream().Draw(t, "stream")
		o := drawForkOptions(t)
		before := s.Encode()
		fork := s.Fork(o)
		if !bytes.Equal(s.Encode(), before) {
			t.Fatal("the source was changed")
		}
		events := func(words []word) []word {
			return slices.DeleteFunc(words, func(w word) bool { return !w.kind.IsEvent() })
		}
		want := events(slowSanitize(slowRetain(s, o)))
		if got := events(sketchedWords(fork)); !equalWords(got, want) {
			t.Errorf("Fork(%s)\n got %v\nwant %v", sketch(s), got, want)
		}
		checkUnknown(t, s, fork)
		if !o.KeepNone {
			checkConfig(t, s, fork)
		}
		checkCoverage(t, s, fork)
	})
}

func drawForkOptions(t *rapid.T) ForkOptions {
	when := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "open") {
			return time.Time{}
		}
		tenths := rapid.IntRange(0, 400).Draw(t, "at")
		return second(0).Add(time.Duration(tenths) * 100 * time.Millisecond)
	})
	return ForkOptions{
		From:     when.Draw(t, "from"),
		Until:    when.Draw(t, "until"),
		First:    rapid.IntRange(0, 3).Draw(t, "first"),
		Last:     rapid.IntRange(0, 3).Draw(t, "last"),
		KeepNone: rapid.IntRange(0, 9).Draw(t, "none") == 0,
	}
}

// slowRetain returns the elements that jp keeps before it sanitizes: first by time, then by
// turn_starts.
func slowRetain(s *Stream, o ForkOptions) []word {
	var words []word
	total := 0
	for i, w := range sketchedWords(s) {
		at := s.At(i).Time()
		if w.kind.IsEvent() && (o.KeepNone || at.Before(o.From) ||
			!o.Until.IsZero() && !at.Before(o.Until)) {
			continue
		}
		words = append(words, w)
		if w.kind == KindTurnStart {
			total++
		}
	}
	if o.First == 0 && o.Last == 0 {
		return words
	}
	if o.First+o.Last >= total && (total > 0 || o.First == 0 || o.Last == 0) {
		return words
	}
	seen := 0
	return slices.DeleteFunc(words, func(w word) bool {
		if w.kind == KindTurnStart {
			seen++
		}
		leading := seen >= 1 && seen <= o.First
		trailing := o.Last > 0 && seen > total-o.Last && seen > 0
		return w.kind.IsEvent() && !leading && !trailing
	})
}

func checkUnknown(t *rapid.T, s, fork *Stream) {
	unknown := func(s *Stream) (found []*Element) {
		for _, e := range s.All() {
			if _, ok := e.Event().(*Unknown); ok {
				found = append(found, e)
			}
		}
		return found
	}
	if !slices.Equal(unknown(s), unknown(fork)) {
		t.Error("unknown elements were lost or changed")
	}
}

// checkConfig checks that the configuration changes before each remaining event are those of the
// source, byte for byte.
func checkConfig(t *rapid.T, s, fork *Stream) {
	deltas := func(s *Stream) map[*Element][]*Element {
		before := map[*Element][]*Element{}
		var so []*Element
		for _, e := range s.All() {
			if e.Kind() == KindConfigDelta {
				so = append(so[:len(so):len(so)], e)
			}
			if e.Kind().IsEvent() {
				before[e] = so
			}
		}
		return before
	}
	source := deltas(s)
	for e, got := range deltas(fork) {
		if want, ok := source[e]; ok && !slices.Equal(got, want) {
			t.Errorf("%s has %d configuration changes before it, want %d",
				sketchOf(e), len(got), len(want))
		}
	}
}

// checkCoverage compares the compactions of a fork with those of the source, turn by turn and
// policy by policy.
func checkCoverage(t *rapid.T, s, fork *Stream) {
	of := map[*Element]int{}
	for i, turn := range s.events() {
		of[s.At(i)] = turn
	}
	sources := make([][]int, len(fork.Turns()))
	for i, turn := range fork.events() {
		if old, ok := of[fork.At(i)]; ok {
			sources[turn] = append(sources[turn], old)
		}
	}
	for _, c := range fork.compactions() {
		if c.ToTurn >= len(sources) && !slices.Contains(allElements(s), fork.At(c.element)) {
			t.Errorf("%s was changed and covers turns to come", sketchOfCompaction(c.Compaction))
		}
		for turn := c.FromTurn; turn <= c.ToTurn && turn < len(sources); turn++ {
			if !covered(s, c, sources[turn]) {
				t.Errorf("%s covers turn %d, of whose sources %v not all were covered\n%s",
					sketchOfCompaction(c.Compaction), turn, sources[turn], sketch(s))
			}
		}
	}
}

func allElements(s *Stream) []*Element {
	var elems []*Element
	for _, e := range s.All() {
		elems = append(elems, e)
	}
	return elems
}

// covered reports whether one compaction of s with the policies of c covered all those turns.
func covered(s *Stream, c placed, turns []int) bool {
	for _, old := range s.compactions() {
		same := old.at.Equal(c.at) && old.StripReasoning == c.StripReasoning &&
			(old.ToolCalls == c.ToolCalls || old.ToolCalls != nil && c.ToolCalls != nil &&
				*old.ToolCalls == *c.ToolCalls) &&
			(c.Summary == nil || old.Summary != nil && *old.Summary == *c.Summary)
		for _, turn := range turns {
			same = same && old.FromTurn <= turn && turn <= old.ToTurn
		}
		if same {
			return true
		}
	}
	return false
}

// renumbered reports whether any turn of s has another index in fork or is missing there.
func renumbered(s, fork *Stream) bool {
	turns := map[*Element]int{}
	for i, turn := range fork.events() {
		turns[fork.At(i)] = turn
	}
	stayed := map[int]bool{}
	for i, turn := range s.events() {
		now, ok := turns[s.At(i)]
		if ok && now != turn {
			return true
		}
		stayed[turn] = stayed[turn] || ok
	}
	for _, ok := range stayed {
		if !ok {
			return true
		}
	}
	return len(s.Turns()) != len(fork.Turns())
}

// A fork without options equals the sanitized stream, except for the ranges.
func TestForkOfAllIsSanitize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stream().Draw(t, "stream")
		fork, clean := s.Fork(ForkOptions{}), s.Sanitize()
		if !renumbered(s, fork) || len(s.compactions()) == 0 {
			if !bytes.Equal(fork.Encode(), clean.Encode()) {
				t.Errorf("fork is\n%s and sanitizing makes\n%s", sketch(fork), sketch(clean))
			}
			return
		}
		rest := func(s *Stream) string {
			var others []*Element
			for _, e := range s.All() {
				if e.Kind() != KindCompaction {
					others = append(others, e)
				}
			}
			return sketch(New(others...))
		}
		if rest(fork) != rest(clean) {
			t.Errorf("fork is\n%s and sanitizing makes\n%s", sketch(fork), sketch(clean))
		}
	})
}
