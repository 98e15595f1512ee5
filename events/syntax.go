package events

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits for every stream.
const (
	// maxStreamBytes is the size of the largest events.json that can be read, whatever is
	// configured. Callers that read files apply a smaller limit, see storage.max_stream_bytes.
	maxStreamBytes = 1 << 30
	// MaxDepth is how deep containers may nest in a file. jp reads 127 levels; this limit is larger
	// so that a file that jp refuses can still be viewed and repaired.
	MaxDepth = 512
	// jpDepth is the depth that jp reads, and the limit for new elements.
	jpDepth = 127
	// valueDepth is the depth that a value may have anywhere in an element. Metadata is the deepest
	// place.
	valueDepth = jpDepth - 3
)

// Reasons that a [SyntaxError] can wrap.
var (
	errTooLarge = errors.New("file is too large")
	ErrTooDeep  = errors.New("containers nest too deep")
	errNumber   = errors.New("a number is too large for a float of 64 bits")
)

// Reasons why a new element cannot be saved.
var (
	errNotJSON = errors.New("a value is not JSON")
	errNotUTF8 = errors.New("a string is not UTF-8")
	errNoTime  = errors.New("no time")
)

// A SyntaxError reports where and why a stream or a metadata.json cannot be read.
type SyntaxError struct {
	Path    string // file, set by the caller that knows it; "" otherwise
	Element int    // index in the stream, -1 outside of elements
	Kind    Kind   // of the element, "" if unknown
	Offset  int64  // in bytes from the start of the file
	Err     error
}

// Error returns, for example:
//
//	element 12 (tool_call_response), offset 48123: content: no discriminant
func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		fmt.Fprintf(&b, "%s: ", e.Path)
	}
	if e.Element >= 0 {
		fmt.Fprintf(&b, "element %d", e.Element)
		if e.Kind != "" {
			fmt.Fprintf(&b, " (%s)", printable(string(e.Kind)))
		}
		b.WriteString(", ")
	}
	fmt.Fprintf(&b, "offset %d: %v", e.Offset, e.Err)
	return b.String()
}

// Unwrap returns the reason.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Printable returns the kind for use in a message: shortened, and quoted unless it is a plain word.
func (k Kind) Printable() string { return printable(string(k)) }

// printable shortens text of a file for use in a message, and quotes it unless it is a plain word.
func printable(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == "" && len(s) <= 40 {
		return s
	}
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// A placedError is a reason and its offset in the bytes that were read.
type placedError struct {
	offset int
	err    error
}

func (e *placedError) Error() string { return e.err.Error() }

// errorAt returns an error about the bytes at offset.
func errorAt(offset int, format string, args ...any) *placedError {
	return &placedError{offset, fmt.Errorf(format, args...)}
}

// in prefixes the reason with the name of the enclosing part.
func (e *placedError) in(name string) *placedError {
	if e == nil {
		return nil
	}
	return &placedError{e.offset, fmt.Errorf("%s: %w", name, e.err)}
}

// inUTF8 returns s with invalid UTF-8 replaced by U+FFFD.
func inUTF8(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }

// notJSON returns why v is not valid JSON.
func notJSON(v []byte) error {
	if !utf8.Valid(v) {
		return errNotUTF8
	}
	return errNotJSON
}
