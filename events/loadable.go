package events

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// Loadable reports why jp could not load an element that holds v, or nil if it could: v is not
// valid JSON, nests too deep, or has a number that no float can hold. Callers check JSON from
// elsewhere with it before making it part of an event.
func Loadable(v jsontext.Value) error {
	usual := jsonspan.IsUsual(v)
	if !usual && !v.IsValid() {
		return notJSON(v)
	}
	if _, depth := jsonspan.Measure(v, jsonspan.SkipSpace(v, 0)); depth > valueDepth {
		return ErrTooDeep
	}
	if usual {
		return nil
	}
	return numbers(v)
}

// Loadable reports why jp cannot load the element, or nil if it can. This package accepts more, so
// that elements that jp refuses can still be viewed and repaired.
func (e *Element) Loadable() error {
	if e.err != nil {
		return e.err
	}
	depth := e.depth
	if depth == 0 {
		_, depth = jsonspan.Measure(e.raw, 0)
	}
	if depth >= jpDepth {
		return ErrTooDeep
	}
	return numbers(e.raw)
}

// numbers reports the first number in valid JSON that is too large for jp.
func numbers(v []byte) error {
	for i := 0; i < len(v); {
		switch c := v[i]; {
		case c == '"':
			i = jsonspan.StringEnd(v, i)
		case c == '-' || '0' <= c && c <= '9':
			n := number(v[i:])
			if tooLarge(n) {
				return fmt.Errorf("%w: %s", errNumber, clippedNumber(n))
			}
			i += len(n)
		default:
			i++
		}
	}
	return nil
}

// number returns the number at the beginning of v.
func number(v []byte) []byte {
	n := 1
	for n < len(v) && bytes.IndexByte([]byte("0123456789.eE+-"), v[n]) >= 0 {
		n++
	}
	return v[:n]
}

// floatDigits is the number of digits up to which every integer fits a 64-bit float.
const floatDigits = 308

func tooLarge(n []byte) bool {
	if len(n) <= floatDigits && bytes.IndexByte(n, 'e') < 0 && bytes.IndexByte(n, 'E') < 0 {
		return false
	}
	_, err := strconv.ParseFloat(string(n), 64)
	return err != nil
}

func clippedNumber(n []byte) string {
	if len(n) > 20 {
		return string(n[:20]) + "…"
	}
	return string(n)
}
