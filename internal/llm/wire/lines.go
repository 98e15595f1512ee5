package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxLine is the longest line that the readers accept: a complete reply fits in it, and a line
// without an end does not exhaust the memory.
const maxLine = 32 << 20

// utf8Replacement replaces bytes that are not UTF-8. Providers sometimes split a character; a
// replacement character in an answer is better than no answer.
const utf8Replacement = "\uFFFD"

// A lineReader returns lines without their ends, which are LF, CRLF or CR, as the standard of
// server-sent events requires, and without a byte order mark at the beginning. It returns a line as
// soon as its end arrives: after a CR it does not wait for the LF that may follow.
type lineReader struct {
	scanner *bufio.Scanner
	afterCR bool
	cut     bool // the last line had no end
	looked  int  // length of the unfinished line that was searched for an end
	begun   bool // a line was read
}

func newLineReader(r io.Reader) *lineReader {
	l := &lineReader{scanner: bufio.NewScanner(r)}
	l.scanner.Buffer(make([]byte, 0, 4096), maxLine)
	l.scanner.Split(l.split)
	return l
}

// next returns a line, which is valid until the next call, and false at the end or on an error.
func (l *lineReader) next() ([]byte, bool) {
	if !l.scanner.Scan() {
		return nil, false
	}
	line := l.scanner.Bytes()
	if !l.begun {
		line, l.begun = bytes.TrimPrefix(line, []byte("\uFEFF")), true
	}
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte(utf8Replacement))
	}
	return line, true
}

func (l *lineReader) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	skip := 0
	if l.afterCR && len(data) > 0 {
		l.afterCR = false
		if data[0] == '\n' {
			skip = 1
		}
	}
	rest := data[skip:]
	if i := bytes.IndexAny(rest[l.looked:], "\r\n"); i >= 0 {
		i += l.looked
		l.looked = 0
		l.afterCR = rest[i] == '\r'
		return skip + i + 1, rest[:i:i], nil
	}
	if atEOF && len(rest) > 0 {
		l.cut, l.looked = true, 0
		return len(data), rest, nil
	}
	l.looked = len(rest)
	return skip, nil, nil
}

// finished reports whether data is complete: valid JSON, or the marker that ends the streams of
// OpenAI. Only then a last line without an end is accepted.
func finished(data []byte) bool {
	return string(data) == "[DONE]" || jsontext.Value(data).IsValid()
}

// ReadLines yields the lines of an NDJSON stream except empty ones. A line is valid until the next
// one. Bytes that are not UTF-8 are replaced. A stream that ends in the middle of a value ends with
// [io.ErrUnexpectedEOF]. A text whose first line is not a value, such as a document of several
// lines, ends with a [*ForeignError].
func ReadLines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := newLineReader(r)
		known := false // the first line was a value
		for line, ok := lines.next(); ok; line, ok = lines.next() {
			line = bytes.TrimSpace(line)
			complete := known && !lines.cut || finished(line)
			switch {
			case len(line) == 0:
				continue
			case !complete && (known || lines.cut && line[0] == '{'):
				yield(nil, cmp.Or(lines.scanner.Err(), io.ErrUnexpectedEOF))
				return
			case !complete:
				yield(nil, lines.foreign(line))
				return
			case !yield(line, nil):
				return
			}
			known = true
		}
		if err := lines.scanner.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// foreign reads a text that is not a stream to its end, from its first line on.
func (l *lineReader) foreign(first []byte) error {
	f := foreign{}
	f.add(first)
	for line, ok := l.next(); ok; line, ok = l.next() {
		f.add(line)
	}
	if err := l.scanner.Err(); err != nil {
		return err
	}
	return &ForeignError{Body: f}
}

// maxForeign limits what is kept of a text that is not a stream.
const maxForeign = 64 << 10

// foreign is such a text.
type foreign []byte

func (f *foreign) add(line []byte) {
	if len(*f)+len(line) < maxForeign {
		*f = append(append(*f, line...), '\n')
	}
}
