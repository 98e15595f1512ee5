package sessions

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Types for members of foreign records, whose types change without notice: a value of an unexpected
// type reads as empty, and never hides the rest of its record.
type (
	// Text is a string. Any other value is read as its JSON text, so that nothing is lost because
	// of its type.
	Text string
	// A Late is a Text that is decoded on demand: it keeps the JSON, a part of the record in
	// memory.
	Late jsontext.Value
	// Flag is true or false.
	Flag bool
	// Number is an integer, as a number or as a string of digits.
	Number int64
	// Moment is a time in RFC 3339, or in seconds or milliseconds since 1970.
	Moment struct{ time.Time }
	// Loose is an object or a list whose members are of these types. Odd has a value of another
	// type.
	Loose[T any] struct {
		Value T
		Odd   jsontext.Value
	}
)

func (t *Text) take(v jsontext.Value) {
	switch v.Kind() {
	case 'n':
	case '"':
		*t = Text(unquote(v)) // invalid UTF-8 becomes U+FFFD
	default:
		*t = Text(v)
	}
}

func (l *Late) take(v jsontext.Value) { *l = Late(v) }

// Text decodes the value.
func (l Late) Text() (t Text) {
	if l != nil {
		t.take(jsontext.Value(l))
	}
	return t
}

// append appends the text.
func (l Late) append(dst []byte) []byte {
	switch v := jsontext.Value(l); v.Kind() {
	case 0, 'n':
		return dst
	case '"':
		return jsonspan.AppendText(dst, v)
	default:
		return append(dst, v...)
	}
}

func (l *Loose[T]) take(v jsontext.Value) {
	var t T
	if UnmarshalInner(v, &t) == nil {
		l.Value = t
	} else {
		l.Odd = v.Clone()
	}
}

func (f *Flag) take(v jsontext.Value) { *f = v.Kind() == 't' }

func (n *Number) take(v jsontext.Value) {
	const exact = 15 // digits that a float represents exactly
	if len(v) <= exact {
		if whole, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			*n = Number(whole)
			return
		}
	}
	var f float64
	if json.Unmarshal(v, &f, json.StringifyNumbers(v.Kind() == '"')) == nil &&
		f > -1<<62 && f < 1<<62 {
		*n = Number(f)
	}
}

func (m *Moment) take(v jsontext.Value) {
	var f float64
	switch {
	case v.Kind() == '"':
		if in := v[1 : len(v)-1]; isPlain(in) {
			m.Time = ParseTime(string(in)) // which ParseTime does not keep
		} else {
			m.Time = ParseTime(unquote(v))
		}
	case v.Kind() == 'n':
		m.Time = time.Time{}
	case json.Unmarshal(v, &f) == nil:
		m.Time = Since1970(f)
	}
}

// lax accepts what agents write that is not quite JSON, and lenient decodes the types above.
var (
	lax = json.JoinOptions(
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	lenient = json.JoinOptions(lax, json.WithUnmarshalers(json.UnmarshalFromFunc(
		func(dec *jsontext.Decoder, t taker) error {
			v, err := dec.ReadValue()
			if err == nil {
				t.take(v.Clone())
			}
			return err
		})))
)

// ParseTime parses a time; the result is zero if that fails. A time without a zone is in UTC.
func ParseTime(s string) time.Time {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// Since1970 converts seconds, or milliseconds if the number would be far in the future as seconds.
func Since1970(f float64) time.Time {
	const farSeconds = 1e11 // the year 5138; in milliseconds 1973
	if f <= 0 || f > 1e15 {
		return time.Time{}
	}
	if f < farSeconds {
		f *= 1000
	}
	return time.UnixMicro(int64(f * 1000)).UTC()
}

// Unmarshal parses a record leniently: duplicate names and invalid UTF-8 are accepted. It
// overwrites *v, whatever that was. A [jsontext.Value] in v shares memory with data. Its errors are
// as [InWords] gives them.
func Unmarshal(data []byte, v any) error { return unmarshalAt(data, v, false) }

// UnmarshalInner is Unmarshal for a value that Unmarshal or [ReadLines] found, which is not
// validated again.
func UnmarshalInner(data jsontext.Value, v any) error { return unmarshalAt(data, v, true) }

func unmarshalAt(data []byte, v any, known bool) error {
	to := reflect.ValueOf(v).Elem()
	if to.SetZero(); unmarshal(data, to, known) {
		return nil
	}
	to.SetZero()
	return InWords(json.Unmarshal(data, v, lenient))
}

// Marshal returns a record for what an agent's own form does not show as one value. It accepts what
// Unmarshal accepts; the same value always gives the same bytes.
func Marshal(v any) []byte {
	data, err := json.Marshal(v, json.Deterministic(true), lax)
	if err != nil {
		return fmt.Appendf(nil, "%q", err)
	}
	return data
}

// Unquoted returns the object in a string of JSON, or else v itself.
func Unquoted(v jsontext.Value) jsontext.Value {
	var text Text
	if v.Kind() == '"' && Unmarshal(v, &text) == nil {
		if inner := jsontext.Value(text); inner.Kind() == '{' && inner.IsValid() {
			return inner
		}
	}
	return v
}

// Complete reports whether a last line without a line feed is complete: valid JSON.
func Complete(line []byte) bool { return jsontext.Value(line).IsValid() }
