package jsonspan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestUnquoteAsJSONText compares decoded strings, also with wrong escapes, with those of package
// jsontext.
func TestUnquoteAsJSONText(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "é", "😀", `\n`, `\"`, `\\`, `\/`, `\b\f\r\t`,
		`\u0041`, `\u00e9`, `\uABcd`, `\ud83d\ude00`,
		`\ud83d`, `\ude00`, "\xff", `\x`, `\u12`, strings.Repeat("x", 100),
	})
	rapid.Check(t, func(t *rapid.T) {
		s := `"` + strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "") + `"`
		if !strings.Contains(s, `\`) {
			return // such a string is returned unchanged
		}
		want, _ := jsontext.AppendUnquote(nil, s)
		if got := jsonspan.Unquote([]byte(s)); !bytes.Equal(got, want) {
			t.Errorf("Unquote(%s) = %q, want %q", s, got, want)
		}
	})
}

// TestIndentedAsJSONText compares the indentation of values of all kinds with package jsontext.
func TestIndentedAsJSONText(t *testing.T) {
	for _, v := range []string{
		`1`, `"a"`, `[]`, ` [ ] `, `{ }`, `{"a":1,"b":[true,null,"x y",{"c":{}}]}`, `{"a": "\u0041\n"}`,
		`{"\u0061":[1e400]}`, `{"a":1,"a":2}`, `{"a":`, ``, `"\xff"`, `{"é" : -0.50 , "":[ [] ,[1]]}`,
	} {
		for _, depth := range []int{jsonspan.Compacted, 0, 3} {
			var want []byte
			if depth == jsonspan.Compacted {
				want, _ = jsontext.AppendFormat([]byte("before"), v)
			} else {
				want, _ = jsontext.AppendFormat([]byte("before"), v, jsontext.WithIndent("  "),
					jsontext.WithIndentPrefix(strings.Repeat("  ", depth)))
			}
			got := jsonspan.AppendIndented([]byte("before"), []byte(v), depth)
			if !bytes.Equal(got, want) {
				t.Errorf("%s at depth %d is %s, want %s", v, depth, got, want)
			}
		}
	}
}

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

// TestWithLastAsLayout compares a member that is appended with one that is inserted in a layout.
func TestWithLastAsLayout(t *testing.T) {
	for _, obj := range []string{
		`{"a":1}`, `{"a": "}" ,"b":[]}`, "{ \"a\":{}\n\t }", "{\n  \"a\": 1,\n  \"b\": 2\n}",
	} {
		l := jsonspan.ParseLayout([]byte(obj))
		l.Set("new", []byte(`"x"`), func() int { return len(l.Members) })
		want := l.Bytes(2)
		if got := jsonspan.WithLast([]byte(obj), "new", []byte(`"x"`)); !bytes.Equal(got, want) {
			t.Errorf("%s becomes %s, want %s", obj, got, want)
		}
	}
}
