package sessions

import (
	"testing"
)

// TestKeptJSON compares the fast conversion of JSON with one through a decoder and an encoder.
func TestKeptJSON(t *testing.T) {
	for _, s := range append(specimens, "12abc", `"a" b`, `{"/home/u/x":"/home/u"} {`, `["\ud83d\ude00","\/"]`) {
		fast := NewBuilder(Session{}, Options{Root: "/home/u"})
		slow := NewBuilder(Session{}, Options{Root: "/home/u"})
		got, want := fast.JSON([]byte(s)), slow.tokens([]byte(s))
		if string(got) != string(want) {
			t.Errorf("%.200q is kept as %.200q, not %.200q", s, got, want)
		}
	}
}
