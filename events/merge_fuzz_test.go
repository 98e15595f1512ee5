package events_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"pgregory.net/rapid"
)

// FuzzMerge merges arbitrary files: no panic, a result that can be read back and does not depend on
// which side is ours, and no change if only one side changed anything.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`[]`), []byte(`[]`), []byte(`[]`))
	f.Add([]byte(`[]`), []byte(`[{"x":1}]`), []byte(`[{"x":2}]`))
	start := `{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"}`
	ask := `{"timestamp":"2026-01-01 00:00:00.1","type":"chat_request","content":"q"}`
	answer := `{"timestamp":"2026-01-01 00:00:00.2","type":"chat_response","message":"a"}`
	delta := `{"type":"config_delta","timestamp":"2026-01-01 00:00:00.0","delta":{"a":["b"]}}`
	f.Add([]byte("["+ask+"]"), []byte("["+ask+","+answer+"]"), []byte("["+start+","+ask+"]"))
	f.Add([]byte("["+ask+"]"), []byte("["+delta+","+ask+","+answer+"]"),
		[]byte(`[{"type":"compaction","timestamp":"2026-01-01 00:00:00","from_turn":0,`+
			`"to_turn":9,"summary":{"summary":"s"}},`+ask+`]`))
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		checkMerge(t, base, ours, theirs)
	})
}

// Small merges that once failed, or depended on which side was ours: base, ours and theirs as talk takes them.
func TestMergeOfOddities(t *testing.T) {
	for _, v := range [][3]string{
		{"0 1 2", "1 0", "2 0"}, // 1 and 2 are removed, and each follows the other somewhere
		// A question parts a call from its result, and one side keeps nothing but the call.
		{"3l- k3 m3", "3l- k3 m3 5l- r3", "k3"},
		{"r3 3l- k3 m3", "3l- k3 m3 5l- r3", "k3"},
	} {
		t.Run(strings.Join(v[:], ", "), func(t *testing.T) {
			var data [3][]byte
			for i, words := range v {
				data[i] = talk(t, words).Encode()
			}
			checkMerge(t, data[0], data[1], data[2])
		})
	}
}

// FuzzMerge's promises for streams of every kind and for modified copies of them.
func TestMergeOfAnything(t *testing.T) {
	property(t, false, func(g generator) {
		base, _ := g.stream()
		ours, _ := g.stream()
		theirs, _ := g.stream()
		checkMerge(g, []byte(base), []byte(ours), []byte(theirs))
		checkMerge(g, []byte(base), []byte(g.shuffled(base)), []byte(g.shuffled(base)))
	})
}

// shuffled returns a stream with its elements in another order, some twice and some missing.
func (g generator) shuffled(text string) string {
	s, err := events.Decode([]byte(text))
	if err != nil || s.Len() == 0 {
		return text
	}
	out := events.New()
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, s.Len()-1), 0, 8).Draw(g.T, "elements") {
		out.Append(s.At(i))
	}
	return string(out.Encode())
}

func checkMerge(t rapid.TB, base, ours, theirs []byte) {
	var sides [3]threeway.Side
	for i, data := range [][]byte{base, ours, theirs} {
		s, err := events.Decode(data)
		if err != nil {
			return
		}
		sides[i].Stream = s
	}
	r, err := threeway.Merge(sides[0], sides[1], sides[2])
	if err != nil {
		t.Fatalf("merge: %v\nbase   %s\nours   %s\ntheirs %s", err, base, ours, theirs)
	}
	if _, err := events.Decode(r.Stream.Encode()); err != nil {
		t.Fatalf("the result does not read back: %v\n%s", err, r.Stream.Encode())
	}
	other, err := threeway.Merge(sides[0], sides[2], sides[1])
	if err != nil {
		t.Fatalf("the other way: %v\nbase   %s\nours   %s\ntheirs %s", err, base, ours, theirs)
	}
	if (len(r.Conflicts) == 0) != (len(other.Conflicts) == 0) {
		t.Fatalf("%d conflicts, and %d the other way around\nbase   %s\nours   %s\ntheirs %s",
			len(r.Conflicts), len(other.Conflicts), base, ours, theirs)
	}
	if len(r.Conflicts) == 0 && !bytes.Equal(r.Stream.Encode(), other.Stream.Encode()) {
		t.Fatalf("base   %s\nours   %s\ntheirs %s\ngive   %s\nand    %s",
			base, ours, theirs, r.Stream.Encode(), other.Stream.Encode())
	}
	for _, c := range r.Conflicts {
		for choice := threeway.ChooseOurs; choice <= threeway.ChooseBoth; choice++ {
			if _, err := threeway.Resolve(r.Stream, c, choice); err != nil {
				t.Fatalf("choice %d: %v\nbase   %s\nours   %s\ntheirs %s\nin     %s",
					choice, err, base, ours, theirs, r.Stream.Encode())
			}
		}
	}
	for _, same := range [][3]threeway.Side{
		{sides[0], sides[0], sides[1]}, {sides[0], sides[1], sides[0]}, {sides[0], sides[1], sides[1]},
	} {
		r, err := threeway.Merge(same[0], same[1], same[2])
		if err != nil || !bytes.Equal(r.Stream.Encode(), ours) {
			t.Fatalf("%v: one change did not stay what it was\nbase   %s\nours   %s\ntheirs %s",
				err, base, ours, theirs)
		}
	}
}
