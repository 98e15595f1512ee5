package secrets

import (
	"bytes"
	"encoding/base64"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// An offsets maps positions in an unescaped text to positions in the escaped text: after each
// entry, the distance between the two is constant.
type offsets []offset

// An offset is the end of an escape in both texts, and how many bytes the escape stands for.
type offset struct{ plain, escaped, width int }

// of returns the position in the escaped text of a byte of the unescaped text.
func (o offsets) of(plain int) int {
	i := sort.Search(len(o), func(i int) bool { return o[i].plain > plain }) - 1
	if i < 0 {
		return plain
	}
	return o[i].escaped + plain - o[i].plain
}

// end returns the position in the escaped text behind a byte of the unescaped text: behind its
// escape if it has one.
func (o offsets) end(plain int) int {
	i := sort.Search(len(o), func(i int) bool { return o[i].plain > plain })
	if i < len(o) && plain >= o[i].plain-o[i].width {
		return o[i].escaped
	}
	return o.of(plain) + 1
}

// A view is a text with its escapes undone.
type view struct {
	plain   []byte
	origins offsets
}

// unescape undoes the escapes of strings in JSON and in code, of URLs and of HTML in a text, and
// removes the control sequences of terminals and where a shell continues a line. It reports whether
// there are any.
func (v *view) unescape(text []byte) bool {
	next := escapes{text: text, at: [len(escapeBytes)]int{-1, -1, -1, -1}}
	i := next.from(0)
	if i == len(text) {
		return false
	}
	out := append(slices.Grow(v.plain[:0], len(text)), text[:i]...)
	o := v.origins[:0]
	for i < len(text) {
		plain, n := unescaped(text[i:])
		out = append(out, plain...)
		i += n
		if n != len(plain) {
			o = append(o, offset{len(out), i, len(plain)})
		}
		stop := next.from(i)
		out = append(out, text[i:stop]...)
		i = stop
	}
	v.plain, v.origins = out, o
	return len(o) > 0
}

// escapeBytes are the bytes with which an escape begins.
const escapeBytes = "\\%&\x1b"

// escapes finds the escapes of a text in order.
type escapes struct {
	text []byte
	at   [len(escapeBytes)]int // the next of each byte
}

// from returns the position of the next escape from i on, or the length of the text.
func (e *escapes) from(i int) int {
	first := len(e.text)
	for n, at := range e.at {
		if at < i {
			if at = bytes.IndexByte(e.text[i:], escapeBytes[n]); at < 0 {
				at = len(e.text) - i
			}
			at += i
			e.at[n] = at
		}
		first = min(first, at)
	}
	return first
}

// unescaped returns the bytes that the escape at the beginning of s stands for, and its length. If
// s does not begin with a valid escape, it is a plain byte.
func unescaped(s []byte) ([]byte, int) {
	switch {
	case len(s) < 2:
		return s[:1], 1
	case s[0] == '%':
		if len(s) >= 3 && isHex(s[1]) && isHex(s[2]) {
			b, _ := strconv.ParseUint(string(s[1:3]), 16, 8) // two digits
			return []byte{byte(b)}, 3
		}
		return s[:1], 1
	case s[0] == '&':
		return entity(s)
	case s[0] != '\\':
		if n := control(s); n > 0 {
			return nil, n
		}
		return s[:1], 1
	}
	switch s[1] {
	case 'n':
		return []byte("\n"), 2
	case 't':
		return []byte("\t"), 2
	case 'r':
		return []byte("\r"), 2
	case '"', '\\', '/', '\'', '`':
		return s[1:2], 2
	case '\n':
		return nil, 2
	case 'x':
		if len(s) >= 4 && isHex(s[2]) && isHex(s[3]) {
			b, _ := strconv.ParseUint(string(s[2:4]), 16, 8) // two digits
			return []byte{byte(b)}, 4
		}
	case 'u':
		if r, n := unicodeEscape(s); n > 0 {
			return utf8.AppendRune(nil, r), n
		}
	}
	return s[:1], 1
}

// maxEntity is the maximum length of an entity: that of a character of Unicode in digits.
const maxEntity = len("&#1114111;")

// entity returns the character of the HTML entity at the beginning of s, and its length. Of those
// with a name, it knows the ones that every program that writes HTML uses.
func entity(s []byte) ([]byte, int) {
	end := bytes.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 0 {
		return s[:1], 1
	}
	name := string(s[1:end])
	switch name {
	case "quot":
		return []byte(`"`), end + 1
	case "apos":
		return []byte("'"), end + 1
	case "lt":
		return []byte("<"), end + 1
	case "gt":
		return []byte(">"), end + 1
	case "amp":
		return []byte("&"), end + 1
	case "nbsp":
		return []byte(" "), end + 1
	}
	digits, ok := strings.CutPrefix(name, "#")
	base := 10
	if hexadecimal := strings.TrimLeft(digits, "xX"); hexadecimal != digits {
		digits, base = hexadecimal, 16
	}
	if r, err := strconv.ParseUint(digits, base, 21); ok && err == nil {
		return utf8.AppendRune(nil, rune(r)), end + 1
	}
	return s[:1], 1
}

// unicodeEscape returns the character of an escape such as "\u00e9", or of a pair of them, at the
// beginning of s, and its length, or 0.
func unicodeEscape(s []byte) (rune, int) {
	const length = len(`\u0000`)
	digits := func(s []byte) (rune, bool) {
		if len(s) < length || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		r, err := strconv.ParseUint(string(s[2:length]), 16, 16)
		return rune(r), err == nil
	}
	first, ok := digits(s)
	if !ok {
		return 0, 0
	}
	if second, ok := digits(s[length:]); ok {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, 2 * length
		}
	}
	return first, length
}

// control returns the length of the control sequence, such as a color, at the beginning of s.
func control(s []byte) int {
	if s[1] != '[' {
		return 0
	}
	for i := 2; i < min(len(s), maxEscape); i++ {
		if s[i] >= '@' && s[i] <= '~' {
			return i + 1
		}
	}
	return 0
}

// minBase64 is the minimum length of a run of base64 that is decoded.
const minBase64 = 24

// minBase64Of returns the minimum for a value that is looked for: a run that has all of it may be
// shorter, and no other text is taken for it.
func minBase64Of(value string) int { return min(minBase64, max(4, len(value)/3*4)) }

// minLine is the minimum length of a line of base64 that can continue on the next line.
const minLine = 60

// eachBase64 calls f with the decoded content of each run of base64 of a minimum length, if that is
// text. The lines of wrapped base64 are one run.
func eachBase64(text []byte, least int, f func(plain []byte, where offsets)) {
	for i := least - 1; i < len(text); {
		if !isBase64(text[i]) {
			i += least
			continue
		}
		start, end := i, i+1
		for start > 0 && isBase64(text[start-1]) {
			start--
		}
		for end < len(text) && isBase64(text[end]) {
			end++
		}
		switch {
		case end-start >= minBase64:
			end = decodeRun(text, start, end, f)
		case end-start >= least:
			decodeShort(text, start, end, f)
		}
		i = end + least
	}
}

// decodeRun decodes the run from start to end, or from one to three bytes after start, because it
// may follow an escape or a slash. It returns the end of the run's last line.
func decodeRun(text []byte, start, end int, f func(plain []byte, where offsets)) int {
	for begin := start; begin < start+4 && end-begin >= minBase64; begin++ {
		first := text[begin : begin+minBase64]
		if !encodesText(first[:4]) || !encodesText(first) { // mostly four characters show it
			continue
		}
		run, where, end := lines(text, begin, end)
		if len(run)%4 == 1 {
			run = run[:len(run)-1]
		}
		plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(run)))
		n, _ := encodingOf(run).Decode(plain, run) // up to the first invalid byte
		f(plain[:n], where)
		return end
	}
	return end
}

// encodesText reports whether up to minBase64 characters stand for text.
func encodesText(run []byte) bool {
	var plain [minBase64 / 4 * 3]byte
	n, err := encodingOf(run).Decode(plain[:], run)
	return err == nil && isText(plain[:n])
}

// decodeShort decodes a run in which only a value is looked for. It is too short to tell where it
// begins, so it is decoded from each of the places from which decodeRun does it.
func decodeShort(text []byte, start, end int, f func(plain []byte, where offsets)) {
	for begin := start; begin < min(start+4, end); begin++ {
		run := text[begin:end]
		if len(run)%4 == 1 {
			run = run[:len(run)-1]
		}
		plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(run)))
		n, _ := encodingOf(run).Decode(plain, run) // up to the first invalid byte
		f(plain[:n], offsets{{escaped: begin}})
	}
}

// lines returns a run together with the following lines that continue it.
func lines(text []byte, begin, end int) (run []byte, where offsets, _ int) {
	run, where = text[begin:end:end], offsets{{escaped: begin}}
	for (end-where[len(where)-1].escaped)%4 == 0 && end-where[len(where)-1].escaped >= minLine {
		next := end
		for next < len(text) && next < end+2 && (text[next] == '\r' || text[next] == '\n') {
			next++
		}
		stop := next
		for stop < len(text) && isBase64(text[stop]) {
			stop++
		}
		if next == end || stop == next {
			break
		}
		where = append(where, offset{plain: len(run), escaped: next})
		run, end = append(run, text[next:stop]...), stop
	}
	return run, where, end
}

func encodingOf(run []byte) *base64.Encoding {
	if bytes.IndexByte(run, '-') >= 0 || bytes.IndexByte(run, '_') >= 0 {
		return base64.RawURLEncoding
	}
	return base64.RawStdEncoding
}

func isBase64(c byte) bool { return base64Bytes[c>>6]>>(c&63)&1 != 0 }

// base64Bytes is the set of bytes of both alphabets.
const (
	base64Low  = 1<<'+' | 1<<'-' | 1<<'/' | 0x3ff<<'0'
	base64High = 1<<('_'-64) | 0x3ffffff<<('A'-64) | 0x3ffffff<<('a'-64)
)

var base64Bytes = [4]uint64{base64Low, base64High}

// isText reports whether the bytes are text without control characters, which may end within a
// character.
func isText(s []byte) bool {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(s)
		}
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
			return false
		}
		s = s[n:]
	}
	return true
}
