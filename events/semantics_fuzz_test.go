package events

import (
	"bytes"
	"testing"
	"time"
)

// Everything derived from a stream that decodes can be saved, and deriving does not change the
// stream.
func FuzzDerivedStreams(f *testing.F) {
	for _, seed := range []string{
		"", "D T q r +a -a m U T q ?x =x m C0-0r", "m -a T T q +a +a C0-9s:x C1-0t",
		"q m q", "T m T", "D U C3-4o",
	} {
		f.Add(sketched(f, seed).Encode(), uint8(1), uint8(0), int64(4))
	}
	f.Fuzz(func(t *testing.T, data []byte, first, last uint8, until int64) {
		s, err := Decode(bytes.Clone(data))
		if err != nil {
			return
		}
		o := ForkOptions{First: int(first), Last: int(last), Until: time.Unix(until, 0)}
		p := s.Project()
		for name, derived := range map[string]*Stream{
			"sanitized": s.Sanitize(), "projected": p.Stream,
			"fork": s.Fork(o), "whole fork": s.Fork(ForkOptions{}),
		} {
			if err := Valid(derived, DecodeOptions{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(p.Origins) != len(p.Stream.Turns()) {
			t.Errorf("%d origins for %d turns", len(p.Origins), len(p.Stream.Turns()))
		}
		if !bytes.Equal(s.Encode(), data) {
			t.Error("the source was changed")
		}
	})
}
