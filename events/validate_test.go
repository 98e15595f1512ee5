package events

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"pgregory.net/rapid"
)

// Valid is ValidateWith, compared with what it must be equivalent to: it does not read elements
// that it knows, so it must know the result of reading. If the two differ it returns a
// [Disagreement].
func Valid(s *Stream, o DecodeOptions) error {
	said := s.ValidateWith(o)
	again, read := DecodeWith(s.Encode(), o)
	var syntax *SyntaxError
	switch {
	case errors.As(said, &syntax) && s.refused():
		return said // an element that was never read; its bytes may look valid
	case (said == nil) != (read == nil), said != nil && said.Error() != read.Error():
		return Disagreement{fmt.Sprintf("validation says %v, reading %v", said, read)}
	case read == nil && again.Len() != s.Len():
		return Disagreement{fmt.Sprintf("%d elements read back as %d", s.Len(), again.Len())}
	}
	return said
}

// A Disagreement is a fault of Validate.
type Disagreement struct{ what string }

func (d Disagreement) Error() string { return d.what }

func (s *Stream) refused() bool {
	for _, e := range s.All() {
		if e.err != nil {
			return true
		}
	}
	return false
}

func TestValidateSaysWhatReadingSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, other := stream().Draw(t, "stream"), stream().Draw(t, "other")
		for range rapid.IntRange(0, 8).Draw(t, "edits") {
			edit(t, s, other)
			for _, limit := range []int64{-1, 0, 1, 12} {
				var d Disagreement
				if err := Valid(s, DecodeOptions{MaxBlobBytes: limit}); errors.As(err, &d) {
					t.Fatalf("limit %d: %v\n%s", limit, err, s.Encode())
				}
			}
		}
	})
}

// edit changes a stream in one way that a program could.
func edit(t *rapid.T, s, other *Stream) {
	at := rapid.IntRange(0, s.Len()).Draw(t, "at")
	switch n := rapid.IntRange(0, 7).Draw(t, "edit"); {
	case n == 0:
		s.Append(written(t))
	case n == 1:
		s.Insert(at, written(t))
	case n == 2 && other.Len() > 0:
		s.Insert(at, other.At(other.Len()-1)) // it was elsewhere in another file
	case n == 3 && at < s.Len():
		s.Remove(at, rapid.IntRange(0, s.Len()-at).Draw(t, "n"))
	case n == 4 && at < s.Len():
		s.Set(at, s.At(at).With(written(t).Event()))
	case n == 5 && at < s.Len():
		e := s.At(at)
		s.Set(at, e.WithTime(time.Unix(1, 0)).WithMetadata(e.Metadata().WithText("k", "v")))
	case n == 6:
		*s = *s.Sanitize()
	case n == 7:
		*s = *s.Fork(ForkOptions{})
	}
}

// written draws an element that a program wrote, sometimes one that cannot be saved.
func written(t *rapid.T) *Element {
	text := rapid.SampledFrom([]string{"", "said", "\xff", strings.Repeat("long ", 5)}).
		Draw(t, "text")
	var ev Event
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		ev = &ChatResponse{Text: text}
	case 1:
		ev = &ToolCallRequest{ID: "a", Name: "b", Arguments: []byte(`{"a":1}`)}
	case 2:
		ev = &ToolCallResponse{ID: "a", Blocks: []Block{{
			Type: BlockText, Content: blobs.Loaded([]byte(text)),
		}}}
	default:
		ev = &ToolCallResponse{ID: "a", Blocks: []Block{{
			Type: BlockText, Content: blobs.Refer(blobs.RefTo([]byte(text))),
		}}}
	}
	return NewElement(time.Unix(5, 0), ev, Metadata{})
}
