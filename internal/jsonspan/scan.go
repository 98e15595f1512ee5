package jsonspan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A Member is a name and value of an object, as positions in the scanned bytes.
type Member struct {
	Name  string // decoded
	Start int    // of the quoted name
	At    int    // of the value
	End   int    // after the value
}

// Value returns the member's value in b, the bytes that were scanned.
func (m Member) Value(b []byte) []byte { return b[m.At:m.End] }

// SkipSpace returns the index of the first byte, from b[i] on, that is not white space.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// StringEnd returns the index after the string that begins at b[i].
func StringEnd(b []byte, i int) int {
	for i++; ; {
		quote := i + bytes.IndexByte(b[i:], '"')
		slash := quote
		for slash > i && b[slash-1] == '\\' {
			slash--
		}
		i = quote + 1
		if (quote-slash)%2 == 0 {
			return i
		}
	}
}

// ValueEnd returns the index after the value that begins at b[i].
func ValueEnd(b []byte, i int) int {
	end, _ := Measure(b, i)
	return end
}

// Measure is [ValueEnd] and also returns how deep containers nest in the value.
func Measure(b []byte, i int) (end, depth int) {
	switch b[i] {
	case '"':
		return StringEnd(b, i), 0
	case '{', '[':
		return measureContainer(b, i)
	}
	for i < len(b) && strings.IndexByte(",]} \n\t\r", b[i]) < 0 {
		i++
	}
	return i, 0
}

func measureContainer(b []byte, i int) (end, depth int) {
	open := 0
	for {
		switch b[i] {
		case '"':
			i = StringEnd(b, i)
			continue
		case '{', '[':
			open++
			depth = max(depth, open)
		case '}', ']':
			if open--; open == 0 {
				return i + 1, depth
			}
		}
		i++
	}
}

// MembersAt appends the members of the object at b[i] to ms. It returns the index after the object
// and how deep containers nest in it.
func MembersAt(b []byte, i int, ms []Member) (_ []Member, end, depth int) {
	for i = SkipSpace(b, i+1); b[i] != '}'; {
		m := Member{Start: i}
		nameEnd := StringEnd(b, i)
		m.Name = MemberName(b[i:nameEnd])
		m.At = SkipSpace(b, SkipSpace(b, nameEnd)+1)
		var d int
		m.End, d = Measure(b, m.At)
		ms, depth = append(ms, m), max(depth, d)
		if i = SkipSpace(b, m.End); b[i] == ',' {
			i = SkipSpace(b, i+1)
		}
	}
	return ms, i + 1, depth + 1
}

// Members returns the members of obj.
func Members(obj []byte) []Member {
	ms, _, _ := MembersAt(obj, SkipSpace(obj, 0), make([]Member, 0, 8)) // most have no more
	return ms
}

// Find returns the first member with the given name.
func Find(ms []Member, name string) (Member, bool) {
	for _, m := range ms {
		if m.Name == name {
			return m, true
		}
	}
	return Member{}, false
}

// FindIn returns the value of the first member called name in the JSON object obj.
func FindIn(obj []byte, name string) (value []byte, ok bool) {
	for i := SkipSpace(obj, SkipSpace(obj, 0)+1); obj[i] != '}'; {
		nameEnd := StringEnd(obj, i)
		at := SkipSpace(obj, SkipSpace(obj, nameEnd)+1)
		end := ValueEnd(obj, at)
		if isNamed(obj[i:nameEnd], name) {
			return obj[at:end], true
		}
		if i = SkipSpace(obj, end); obj[i] == ',' {
			i = SkipSpace(obj, i+1)
		}
	}
	return nil, false
}

// isNamed reports whether a quoted member name equals name.
func isNamed(quoted []byte, name string) bool {
	if in := quoted[1 : len(quoted)-1]; bytes.IndexByte(in, '\\') < 0 {
		return string(in) == name
	}
	return MemberName(quoted) == name
}

// MemberOf returns the value of a member, or nil if there is none.
func MemberOf(obj jsontext.Value, name string) jsontext.Value {
	if !IsObject(obj) || !obj.IsValid() {
		return nil
	}
	value, _ := FindIn(obj, name)
	return value
}

// A Span is the position of an array's element.
type Span struct{ At, End int }

// Elements returns the spans of the elements of the array at b[i].
func Elements(b []byte, i int) []Span {
	var spans []Span
	for i = SkipSpace(b, i+1); b[i] != ']'; {
		s := Span{i, ValueEnd(b, i)}
		spans = append(spans, s)
		if i = SkipSpace(b, s.End); b[i] == ',' {
			i = SkipSpace(b, i+1)
		}
	}
	return spans
}

// MemberName decodes a quoted name or another short word. It does not allocate for words of the
// format.
func MemberName(quoted []byte) string {
	if name, ok := names[string(quoted[1:len(quoted)-1])]; ok {
		return name
	}
	return Text(quoted)
}

// names has the words of the format.
var names = func() map[string]string {
	all := map[string]string{}
	for name := range strings.FieldsSeq("timestamp type id name content arguments is_error" +
		" message reasoning metadata $blob size text resource resources uri mimeType") {
		all[name] = name
	}
	return all
}()

// Text decodes a JSON string.
func Text(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	return string(Unquote(quoted))
}

// Bytes decodes a JSON string into a new slice.
func Bytes(quoted []byte) []byte {
	s := Unquote(quoted)
	if len(s) == len(quoted)-2 { // without escapes
		return bytes.Clone(s)
	}
	return s
}

// Unquote decodes a JSON string. The result may share memory with it.
func Unquote(quoted []byte) []byte {
	in := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		return in
	}
	return AppendText(nil, quoted)
}

// AppendText appends what a JSON string says. Invalid UTF-8 becomes U+FFFD.
func AppendText(dst, quoted []byte) []byte {
	in, begin := quoted[1:len(quoted)-1], len(dst)
	dst = slices.Grow(dst, len(in))
	for valid := utf8.Valid(in); valid; {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			return append(dst, in...)
		}
		c, size := escaped(in[i:])
		if size == 0 {
			break
		}
		dst = utf8.AppendRune(append(dst, in[:i]...), c)
		in = in[i+size:]
	}
	dst, _ = jsontext.AppendUnquote(dst[:begin], quoted) // the error only reports invalid strings
	return dst
}

// escaped decodes the escape sequence at the beginning of b and returns its length, which is 0 for
// an invalid one and for half of a surrogate pair.
func escaped(b []byte) (c rune, size int) {
	if len(b) > 1 && unescape[b[1]] != 0 {
		return rune(unescape[b[1]]), len(`\n`)
	}
	size = escapeSize(b)
	for _, digit := range b[min(len(`\u`), size):size] {
		c = c<<4 | rune(digit&0xf)
		if digit > '9' {
			c += 9
		}
	}
	return c, size
}

// unescape has the values of escapes of one letter.
var unescape = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// Quote appends s as a JSON string in jp's spelling, which escapes only what must be. Bytes that
// are not UTF-8 are appended unchanged, so the result is not valid JSON. That way nothing is
// changed silently, and the check before saving finds it.
func Quote[T ~string | ~[]byte](dst []byte, s T) []byte {
	start := len(dst)
	dst = append(slices.Grow(dst, len(s)+len(`""`)), '"')
	ascii := true
	for from := 0; ; {
		i := ordinaryEnd(s, from)
		for i < len(s) && s[i] >= utf8.RuneSelf {
			ascii = false
			i = ordinaryEnd(s, i+1)
		}
		if dst = append(dst, s[from:i]...); i == len(s) {
			break
		}
		dst = appendEscape(dst, s[i])
		from = i + 1
	}
	if !ascii && !utf8.Valid(dst[start:]) {
		dst = append(append(dst[:start], '"'), s...)
	}
	return append(dst, '"')
}

// appendEscape appends a quote, a backslash or a control character in its escaped form.
func appendEscape(dst []byte, c byte) []byte {
	if letter := letters[c]; letter != 0 {
		return append(dst, '\\', letter)
	}
	return fmt.Appendf(dst, `\u%04x`, c)
}

// letters has the escapes of one letter that jp writes.
var letters = [256]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
}

// Quoted is [Quote] into a new slice.
func Quoted[T ~string | ~[]byte](s T) []byte { return Quote(make([]byte, 0, len(s)+2), s) }

// IsString reports whether a value is a string.
func IsString(v []byte) bool { return len(v) > 0 && v[0] == '"' }

// IsObject reports whether a value is an object.
func IsObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }

// IsArray reports whether a value is an array.
func IsArray(v []byte) bool { return len(v) > 0 && v[0] == '[' }

// IsNull reports whether a value is null.
func IsNull(v []byte) bool { return string(v) == "null" }

// Strings returns the strings of a JSON array.
func Strings(v jsontext.Value) []string {
	if !IsArray(v) {
		return nil
	}
	var all []string
	for _, s := range Elements(v, 0) {
		if item := v[s.At:s.End]; IsString(item) {
			all = append(all, Text(item))
		}
	}
	return all
}
