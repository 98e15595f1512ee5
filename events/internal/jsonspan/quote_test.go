package jsonspan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestQuoteAsJSONText compares Quote with package jsontext, and, for text that is not UTF-8, with
// the text itself between quotes.
func TestQuoteAsJSONText(t *testing.T) {
	piece := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab\"\\/<>&\n\t\x00\x01\x1f\x7fé€😀\u2028\ufffd")), 0, 30, -1),
		rapid.SampledFrom([]string{"\xff", "\xed\xa0\x80", "\b\f\r", strings.Repeat("x", 100)}))
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, "pieces"), "")
		want, err := jsontext.AppendQuote([]byte("before"), s)
		if err != nil {
			want = []byte("before\"" + s + "\"")
		}
		if got := jsonspan.Quote([]byte("before"), s); !bytes.Equal(got, want) {
			t.Errorf("Quote(%q) = %s, want %s", s, got, want)
		}
		if got := jsonspan.Quote([]byte("before"), []byte(s)); !bytes.Equal(got, want) {
			t.Errorf("Quote of the bytes of %q = %s, want %s", s, got, want)
		}
	})
}
