package events

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTurns(t *testing.T) {
	for _, test := range []struct {
		sketch string
		turns  string
		of     []int
	}{
		{"", "[]", []int{}},
		{"D U", "[]", []int{-1, -1}},
		{"T q m", "[{0 0 2 false}]", []int{0, 0, 0}},
		{"q m q m", "[{0 0 3 true}]", []int{0, 0, 0, 0}},
		{"q m T q", "[{0 0 1 true} {1 2 3 false}]", []int{0, 0, 1, 1}},
		{"T T q", "[{0 0 0 false} {1 1 2 false}]", []int{0, 1, 1}},
		{
			"D T q D m C0-0r U T D q D", "[{0 1 4 false} {1 7 9 false}]",
			[]int{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1},
		},
		{"D q U T", "[{0 1 1 true} {1 3 3 false}]", []int{0, 0, 0, 1}},
		{"T q T", "[{0 0 1 false} {1 2 2 false}]", []int{0, 0, 1}},
	} {
		s := sketched(t, test.sketch)
		if got := fmt.Sprint(s.Turns()); got != test.turns {
			t.Errorf("Turns(%s) = %s, want %s", test.sketch, got, test.turns)
		}
		if got := s.TurnOf(); !slices.Equal(got, test.of) {
			t.Errorf("TurnOf(%s) = %v, want %v", test.sketch, got, test.of)
		}
	}
}

func TestTurnsAgreeWithTurnOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stream().Draw(t, "stream")
		turns, of := s.Turns(), s.TurnOf()
		if !slices.IsSorted(of) {
			t.Fatalf("TurnOf is not monotonic: %v", of)
		}
		covered := 0
		for n, turn := range turns {
			if turn.Index != n || turn.Implicit != (s.At(turn.First).Kind() != KindTurnStart) {
				t.Errorf("turn %d is %+v", n, turn)
			}
			for i := turn.First; i <= turn.Last; i++ {
				if of[i] != n {
					t.Errorf("element %d is in %v and counts to turn %d", i, turn, of[i])
				}
				if s.At(i).Kind().IsEvent() {
					covered++
				}
			}
			if !s.At(turn.First).Kind().IsEvent() || !s.At(turn.Last).Kind().IsEvent() {
				t.Errorf("turn %d does not begin and end with an event", n)
			}
		}
		for _, e := range s.All() {
			if e.Kind().IsEvent() {
				covered--
			}
		}
		if covered != 0 {
			t.Errorf("turns hold %d events too many", covered)
		}
	})
}
