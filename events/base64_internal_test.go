package events

import (
	"bytes"
	"encoding/base64"
	"testing"

	"pgregory.net/rapid"
)

// TestDecodesAsDecoding checks that decodes, which does not allocate, agrees with decoding, also
// for long strings, invalid UTF-8 and other encodings.
func TestDecodesAsDecoding(t *testing.T) {
	piece := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 12),
		rapid.SampledFrom([][]byte{[]byte("text"), bytes.Repeat([]byte("ab"), 100), {0xff}}))
	rapid.Check(t, func(t *rapid.T) {
		said := piece.Draw(t, "said")
		for _, s := range [][]byte{
			said, []byte(base64.StdEncoding.EncodeToString(said)),
			[]byte(base64.RawStdEncoding.EncodeToString(said)),
			[]byte(base64.URLEncoding.EncodeToString(said)),
			append([]byte(base64.StdEncoding.EncodeToString(said)), "\n=A"...),
		} {
			if _, want := decodeOnce(s); decodes(s) != want {
				t.Errorf("decodes(%q) = %t, want %t", s, !want, want)
			}
		}
	})
}
