package events

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestCalls(t *testing.T) {
	for _, test := range []struct{ sketch, want string }{
		{"T q", "[]"},
		{"T q +a -a", "[{0 2 3 a read}]"},
		{"T q +a +b:grep -a -b", "[{0 2 4 a read} {0 3 5 b grep}]"},
		{"T q +a +b -b -a", "[{0 2 5 a read} {0 3 4 b read}]"}, // any order
		{"T q +a +a -a !a", "[{0 2 4 a read} {0 3 5 a read}]"}, // by count
		{"T q +a -a +a", "[{0 2 3 a read} {0 4 -1 a read}]"},   // open
		{"T q +a T q -a", "[{0 2 -1 a read}]"},                 // never across turns
		{"T q +a -a T q +a -a", "[{0 2 3 a read} {1 6 7 a read}]"},
		{"T q -a +a", "[{0 3 -1 a read}]"},   // never backwards
		{"T q +a -a -a", "[{0 2 3 a read}]"}, // a second response
		{"q +a D -a", "[{0 1 3 a read}]"},    // without turn_start
	} {
		if got := fmt.Sprint(sketched(t, test.sketch).Calls()); got != test.want {
			t.Errorf("Calls(%s) = %s, want %s", test.sketch, got, test.want)
		}
	}
}

func TestInquiries(t *testing.T) {
	s := sketched(t, "T q +a ?a.x ?a.x =a.x T ?b =a.x")
	want := "[{0 3 5 a.x} {0 4 -1 a.x} {1 7 -1 b}]"
	if got := fmt.Sprint(s.Inquiries()); got != want {
		t.Errorf("Inquiries = %s, want %s", got, want)
	}
}

// The reference implementation counts: the n-th response answers the n-th request. It agrees as
// long as no response comes too early.
func TestCallsPairByCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stream().Draw(t, "stream")
		of := s.TurnOf()
		taken := map[int]bool{}
		requests := 0
		for _, c := range s.Calls() {
			requests++
			req := s.At(c.Request).Event().(*ToolCallRequest)
			if req.ID != c.ID || req.Name != c.Name || of[c.Request] != c.Turn {
				t.Fatalf("%+v is not of its request", c)
			}
			if c.Open() {
				continue
			}
			res := s.At(c.Response).Event().(*ToolCallResponse)
			if res.ID != c.ID || of[c.Response] != c.Turn || c.Response < c.Request ||
				taken[c.Response] {
				t.Fatalf("%+v is not of its response", c)
			}
			taken[c.Response] = true
		}
		for i, e := range s.All() {
			switch ev := e.Event().(type) {
			case *ToolCallRequest:
				requests--
			case *ToolCallResponse:
				if open := openBefore(s, i, ev.ID); (open > 0) != taken[i] {
					t.Errorf("response %d has %d open requests before it, paired: %t",
						i, open, taken[i])
				}
			}
		}
		if requests != 0 {
			t.Errorf("%d calls too many", requests)
		}
	})
}

// openBefore counts the requests with the id that are open before element i, from the start of the
// turn.
func openBefore(s *Stream, i int, id string) int {
	open := 0
	of := s.TurnOf()
	for j := range i {
		if of[j] != of[i] {
			continue
		}
		switch ev := s.At(j).Event().(type) {
		case *ToolCallRequest:
			if ev.ID == id {
				open++
			}
		case *ToolCallResponse:
			if ev.ID == id && open > 0 {
				open--
			}
		}
	}
	return open
}

func TestIncomplete(t *testing.T) {
	for _, test := range []struct {
		sketch           string
		calls, inquiries int
		unanswered, ok   bool
	}{
		{sketch: ""},
		{sketch: "D U"},
		{sketch: "T q m"},
		{sketch: "T q m D C0-0r"},
		{sketch: "T q +a -a m"},
		{sketch: "T q +a T q m"}, // only the last turn counts
		{sketch: "T q m +a !a r"},
		{sketch: "T q ?a =a m ?b =b"}, // inquiries at the end
		{sketch: "?a =a"},
		{sketch: "T", unanswered: true, ok: true},
		{sketch: "T q m T q", unanswered: true, ok: true},
		{sketch: "q m q D", unanswered: true, ok: true},
		{sketch: "T q +a -a", unanswered: true, ok: true},
		{sketch: "T q +a -a ?x =x", unanswered: true, ok: true},
		{sketch: "T q m +a", calls: 1, ok: true},
		{sketch: "T q +a +b -a", calls: 1, unanswered: true, ok: true},
		{sketch: "T q +a +a m", calls: 2, ok: true},
		{sketch: "T q +a ?x", calls: 1, inquiries: 1, ok: true},
		{sketch: "T q ?x m", inquiries: 1, ok: true},
	} {
		in, ok := sketched(t, test.sketch).Incomplete()
		if ok != test.ok || len(in.Calls) != test.calls || len(in.Inquiries) != test.inquiries ||
			in.Unanswered != test.unanswered {
			t.Errorf("Incomplete(%s) = %+v, %t", test.sketch, in, ok)
		}
	}
}
