package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/git-jp/git-jp/internal/exact"
)

// decodeJSON5 decodes JSON5, which it converts to JSON for the standard library. The conversion
// reads each byte once and does not recurse; it refuses a file that is too deep.
func decodeJSON5(data []byte) (tree map[string]any, err error) {
	t := translator{in: data}
	if err := t.run(); err != nil {
		return nil, &placedError{positionAt(data, t.at), err}
	}
	return tree, exact.Unmarshal(t.out, &tree)
}

// shallowJSON returns an error with the position if JSON is too deep. It does not report invalid
// JSON.
func shallowJSON(data []byte) error {
	t := translator{in: data}
	if err := t.run(); errors.Is(err, errTooDeep) {
		return &placedError{positionAt(data, t.at), err}
	}
	return nil
}

// A translator converts JSON5 to JSON, token by token. Invalid input is left for the JSON decoder
// to refuse.
type translator struct {
	in    []byte
	at    int // in in
	out   []byte
	open  []byte // the open brackets
	comma bool   // a comma was read but not written, since it may be a trailing one
	begun bool   // the last token was an opening bracket
	isKey bool   // the next token is a name
}

func (t *translator) run() error {
	for {
		if err := t.space(); err != nil {
			return err
		}
		if t.at == len(t.in) {
			return nil
		}
		if err := t.token(); err != nil {
			return err
		}
	}
}

func (t *translator) token() error {
	switch c := t.in[t.at]; c {
	case ',':
		if t.comma || t.begun || len(t.open) == 0 {
			return errors.New("unexpected comma")
		}
		t.at++
		t.comma, t.isKey = true, t.within('{')
		return nil
	case ']', '}':
		t.comma, t.isKey, t.begun = false, false, false
		if len(t.open) > 0 {
			t.open = t.open[:len(t.open)-1]
		}
		return t.write(c)
	}
	if t.comma {
		t.out, t.comma = append(t.out, ','), false
	}
	t.begun = false
	switch c := t.in[t.at]; {
	case c == '[' || c == '{':
		if len(t.open) == maxDepth {
			return errTooDeep
		}
		t.open = append(t.open, c)
		t.isKey, t.begun = c == '{', true
		return t.write(c)
	case c == ':':
		t.isKey = false
		return t.write(c)
	case c == '"' || c == '\'':
		return t.text(c)
	case !t.isKey && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		return t.number()
	default:
		return t.word()
	}
}

func (t *translator) within(bracket byte) bool {
	return len(t.open) > 0 && t.open[len(t.open)-1] == bracket
}

func (t *translator) write(c byte) error {
	t.out = append(t.out, c)
	t.at++
	return nil
}

// space skips white space and comments.
func (t *translator) space() error {
	for t.at < len(t.in) {
		rest := t.in[t.at:]
		r, n := utf8.DecodeRune(rest)
		switch {
		case unicode.IsSpace(r) || r == '\uFEFF' || unicode.Is(unicode.Zs, r):
			t.at += n
		case bytes.HasPrefix(rest, []byte("//")):
			end := bytes.IndexAny(rest, "\n\r\u2028\u2029")
			if end < 0 {
				end = len(rest)
			}
			t.at += end
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return errors.New("the comment has no end")
			}
			t.at += end + len("/**/")
		default:
			return nil
		}
		t.out = append(t.out, ' ') // 1/**/2 is two numbers
	}
	return nil
}

// text reads a string that begins with a quote.
func (t *translator) text(quote byte) error {
	var b []byte
	for i := t.at + 1; i < len(t.in); {
		switch c := t.in[i]; {
		case c == quote:
			t.at = i + 1
			return t.quoted(b)
		case c == '\n' || c == '\r':
			t.at = i
			return errors.New("the string has no end")
		case c != '\\':
			b = append(b, c)
			i++
		default:
			s, n, err := unescaped(t.in[i:])
			if err != nil {
				t.at = i
				return err
			}
			b = append(b, s...)
			i += n
		}
	}
	return errors.New("the string has no end")
}

func (t *translator) quoted(text []byte) error {
	q, err := json.Marshal(string(text))
	t.out = append(t.out, q...)
	return err
}

// unescaped returns the text for the escape at the start of v, and its length.
func unescaped(v []byte) (text string, n int, err error) {
	if len(v) < 2 {
		return "", 0, errors.New("the string has no end")
	}
	const single = "b\bf\fn\nr\rt\tv\v0\x00"
	switch r, size := utf8.DecodeRune(v[1:]); {
	case bytes.HasPrefix(v[1:], []byte("\r\n")):
		return "", len("\\\r\n"), nil
	case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
		return "", 1 + size, nil
	case r == 'x':
		c, err := hexDigits(v, 2)
		return string(c), len(`\x00`), err
	case r == 'u':
		return unescapedUnit(v)
	case '1' <= r && r <= '9':
		return "", 0, fmt.Errorf("no escape begins with %c", r)
	default:
		if i := strings.IndexByte(single, v[1]); i >= 0 && i%2 == 0 {
			return single[i+1 : i+2], 2, nil
		}
		return string(v[1 : 1+size]), 1 + size, nil
	}
}

// unescapedUnit reads \u0000, or two of these for one character.
func unescapedUnit(v []byte) (string, int, error) {
	const size = len(`\u0000`)
	r, err := hexDigits(v, 4)
	if err != nil {
		return "", 0, err
	}
	if utf16.IsSurrogate(r) && bytes.HasPrefix(v[size:], []byte(`\u`)) {
		if low, err := hexDigits(v[size:], 4); err == nil {
			if whole := utf16.DecodeRune(r, low); whole != unicode.ReplacementChar {
				return string(whole), 2 * size, nil
			}
		}
	}
	return string(r), size, nil
}

// hexDigits reads n digits after the two characters that begin an escape.
func hexDigits(v []byte, n int) (rune, error) {
	if len(v) < 2+n {
		return 0, errors.New("the escape has no end")
	}
	u, err := strconv.ParseUint(string(v[2:2+n]), 16, 32)
	if err != nil {
		return 0, fmt.Errorf("no escape is %q", v[:2+n])
	}
	return rune(u), nil // of at most four digits
}

// maxDigits limits the length of a number: a longer one has no use, and takes time quadratic in its
// length.
const maxDigits = 400

func (t *translator) number() error {
	end := t.at
	for end < len(t.in) && isNumeric(t.in[end]) {
		end++
	}
	text := string(t.in[t.at:end])
	if len(text) > maxDigits {
		return errors.New("the number is too long")
	}
	plain, err := plainNumber(text)
	if err != nil {
		return err
	}
	t.out = append(t.out, plain...)
	t.at = end
	return nil
}

// isNumeric reports whether a byte may be part of a number, or of a word such as Infinity.
func isNumeric(c byte) bool {
	return c == '+' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' ||
		'A' <= c && c <= 'Z'
}

// plainNumber converts a number to JSON.
func plainNumber(text string) (string, error) {
	sign, digits := "", strings.TrimPrefix(text, "+")
	if digits == text {
		digits = strings.TrimPrefix(text, "-")
		sign = text[:len(text)-len(digits)]
	}
	if digits == "Infinity" || digits == "NaN" {
		return "", fmt.Errorf("%s is not a valid number for a setting", text)
	}
	if hex := strings.ToLower(digits); strings.HasPrefix(hex, "0x") {
		n, ok := new(big.Int).SetString(hex[2:], 16)
		if !ok || n.Sign() < 0 {
			return "", fmt.Errorf("%q is not a number", text)
		}
		return sign + n.String(), nil
	}
	whole, rest, dotted := strings.Cut(digits, ".")
	if dotted {
		fraction := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if whole == "" && fraction == "" {
			return "", fmt.Errorf("%q is not a number", text)
		}
		whole = cmp.Or(whole, "0")
		if fraction == "" {
			rest = "0" + rest
		}
		whole += "." + rest
	}
	return sign + whole, nil
}

// word reads a name, or a word that is a value.
func (t *translator) word() error {
	var name []byte
	i := t.at
	for i < len(t.in) {
		r, n := utf8.DecodeRune(t.in[i:])
		if r == '\\' && i+1 < len(t.in) && t.in[i+1] == 'u' {
			s, n, err := unescapedUnit(t.in[i:])
			if err != nil {
				return err
			}
			name, i = append(name, s...), i+n
			continue
		}
		if !isNamed(r, len(name) > 0) {
			break
		}
		name, i = append(name, t.in[i:i+n]...), i+n
	}
	switch {
	case len(name) == 0:
		r, _ := utf8.DecodeRune(t.in[t.at:])
		return fmt.Errorf("unexpected %q", r)
	case t.isKey:
		t.at = i
		return t.quoted(name)
	}
	switch string(name) {
	case "true", "false", "null":
		t.out, t.at = append(t.out, name...), i
		return nil
	case "Infinity", "NaN":
		return fmt.Errorf("%s is not a valid number for a setting", name)
	}
	return errors.New("a text needs quotes")
}

// isNamed reports whether a character may be part of a name.
func isNamed(r rune, within bool) bool {
	switch {
	case r == '$' || r == '_' || unicode.In(r, unicode.L, unicode.Nl):
		return true
	case within:
		return unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) ||
			r == '\u200C' || r == '\u200D'
	}
	return false
}
