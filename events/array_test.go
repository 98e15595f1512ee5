package events

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"pgregory.net/rapid"
)

// TestClonesAreApart changes streams that are clones of each other, one at a time. The others must
// not change, whatever they share, and what is cached about each must stay true.
func TestClonesAreApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		other := stream().Draw(t, "other")
		all := []*Stream{stream().Draw(t, "stream")}
		was := [][]byte{all[0].Encode()}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			n := rapid.IntRange(0, len(all)-1).Draw(t, "n")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				all, was = append(all, all[n].Clone()), append(was, was[n])
			case 1:
				all[n].Append(written(t))
			case 2:
				externalize(t, all[n])
			default:
				edit(t, all[n], other)
			}
			was[n] = all[n].Encode()
			for i, s := range all {
				if got := s.Encode(); !bytes.Equal(got, was[i]) {
					t.Fatalf("stream %d changed with stream %d:\n%s\nwas\n%s", i, n, got, was[i])
				}
				if same, rest := all[n].EncodeAfter(s); !bytes.Equal(was[n],
					append(was[i][:same:same], rest...)) {
					t.Fatalf("stream %d after %d of stream %d:\n%s", n, same, i, rest)
				}
			}
			var d Disagreement
			if err := Valid(all[n], DecodeOptions{MaxBlobBytes: 12}); errors.As(err, &d) {
				t.Fatal(d)
			}
		}
	})
}

// externalize stores everything in the stream that can be stored.
func externalize(t *rapid.T, s *Stream) {
	if _, err := s.Externalize(nowhere{}, ExternalizeOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, e := range s.All() {
		if e.toStore(ExternalizeOptions{}) {
			t.Fatalf("element %d still has content to store", i)
		}
	}
}

// nowhere discards what is written to it.
type nowhere struct{}

func (nowhere) Write(b []byte) (blobs.Ref, error) { return blobs.RefTo(b), nil }

// TestClonesAppendApart appends to each of several clones of a stream that has room behind its end.
func TestClonesAppendApart(t *testing.T) {
	s := New()
	for range 5 {
		s.Append(said("first"))
	}
	var clones []*Stream
	for i := range 4 {
		clone := s.Clone()
		clone.Append(said(string(rune('a' + i))))
		clones = append(clones, clone)
	}
	s.Append(said("last"))
	for i, clone := range append(clones, s) {
		want := []string{"a", "b", "c", "d", "last"}[i]
		got, ok := clone.At(5).Event().(*ChatResponse)
		if !ok || clone.Len() != 6 || got.Text != want {
			t.Errorf("clone %d: %d elements, the last says %v, not %q", i, clone.Len(), got, want)
		}
	}
}

// TestAppendOfNothing appends nothing to a clone behind whose end the other has an element, and then
// changes it.
func TestAppendOfNothing(t *testing.T) {
	t.Parallel()
	s := New()
	for range 5 {
		s.Append(said("first"))
	}
	clone := s.Clone()
	s.Append(said("last"))
	clone.Append()
	clone.Set(0, said("other"))
	if got, ok := s.At(0).Event().(*ChatResponse); !ok || got.Text != "first" {
		t.Errorf("the first element changed with the clone: %v", got)
	}
}

func said(text string) *Element {
	return NewElement(time.Unix(5, 0), &ChatResponse{Text: text}, Metadata{})
}
