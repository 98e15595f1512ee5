package events

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestRevise(t *testing.T) {
	const three = "D T q r m D T q +a -a m T q m "
	without := func(kinds ...Kind) func(int, *Element) *Element {
		return func(_ int, e *Element) *Element {
			for _, k := range kinds {
				if e.Kind() == k {
					return nil
				}
			}
			return e
		}
	}
	tests := map[string]struct {
		change func(int, *Element) *Element
		lead   []*Element
		have   string
		want   string
	}{
		"nothing": {without(), nil, three + "C0-1s:x", three + "C0-1s:x"},
		"an event of a turn": {
			without(KindToolCallRequest), nil, three + "C0-1s:x C1-1t", "D T q r m D T q m T q m C0-1s:x C1-1t",
		},
		"a whole turn": {
			func(i int, e *Element) *Element {
				if i >= 6 && i <= 10 {
					return nil
				}
				return e
			},
			nil, three + "C0-1rs:x C1-1s:y C2-2t", "D T q r m D T q m C0-0r C1-1t",
		},
		"a lead": {
			func(i int, e *Element) *Element {
				if i <= 10 {
					return nil
				}
				return e
			},
			allElements(sketched(t, "T q m")), three + "C0-1rs:x C1-2r C2-2s:y", "D T q m D T q m C1-1r C1-1s:y",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sketch(sketched(t, test.have).Revise(test.change, test.lead...))
			if want := joined(test.want); got != want {
				t.Errorf("Revise(%s)\n got %s\nwant %s", test.have, got, want)
			}
		})
	}
}

func TestReviseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stream().Draw(t, "stream")
		before := s.Encode()
		gone := rapid.SliceOfN(rapid.Bool(), s.Len(), s.Len()).Draw(t, "gone")
		out := s.Revise(func(i int, e *Element) *Element {
			if gone[i] {
				return nil
			}
			return e
		})
		if !bytes.Equal(s.Encode(), before) {
			t.Fatal("the source was changed")
		}
		if err := out.Validate(); err != nil {
			t.Fatalf("Revise(%s): %v", sketch(s), err)
		}
		checkUnknown(t, s, out)
		checkConfig(t, s, out)
		checkCoverage(t, s, out)
		same := s.Revise(func(_ int, e *Element) *Element { return e })
		if !bytes.Equal(same.Encode(), before) {
			t.Fatalf("a revision of nothing changes %s into %s", sketch(s), sketch(same))
		}
	})
}
