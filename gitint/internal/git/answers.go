package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// An Answer is what git cat-file says about an object. It has a content only if that was asked for.
type Answer struct {
	object.Object
	Size int64
}

// answers reads what git cat-file prints. An error for which isAnswer is false means that nothing
// more can be read.
type answers struct {
	in   *bufio.Reader
	kind string // of the answer before
	sum  object.Hasher
	buf  []byte
}

// isAnswer reports whether an error is about an object, and not about git.
func isAnswer(err error) bool {
	_, corrupt := errors.AsType[*object.CorruptError](err)
	return corrupt || errors.Is(err, object.ErrMissing)
}

// head reads "<id> <kind> <size>" or "<id> missing". Git is not asked for the zero id.
func (s *answers) head(id object.ID) (Answer, error) {
	if id.IsZero() {
		return Answer{}, object.ErrMissing
	}
	line, err := s.in.ReadSlice('\n')
	if err != nil {
		return Answer{}, err
	}
	s.buf = append(id.AppendHex(s.buf[:0]), ' ')
	rest, ok := bytes.CutPrefix(line[:len(line)-1], s.buf)
	if ok && string(rest) == "missing" {
		return Answer{}, object.ErrMissing
	}
	kind, digits, _ := bytes.Cut(rest, []byte{' '})
	size, err := strconv.ParseInt(string(digits), 10, 64)
	if !ok || err != nil {
		return Answer{}, fmt.Errorf("unexpected answer %q", line)
	}
	if string(kind) != s.kind {
		s.kind = string(kind)
	}
	return Answer{object.Object{Kind: s.kind}, size}, nil
}

// content reads what follows a head, and verifies its hash.
func (s *answers) content(id object.ID, a Answer) (Answer, error) {
	a.Data = make([]byte, a.Size)
	if _, err := io.ReadFull(s.in, a.Data); err != nil {
		return a, err
	}
	if _, err := s.in.Discard(1); err != nil { // the newline after it
		return a, err
	}
	return a, s.sum.Verify(a.Object, id)
}

// Lines returns a reader of the names of objects, one a line, without the zero id, which git might
// take for an abbreviation.
func Lines(ids []object.ID) io.Reader { return &lines{ids: ids} }

type lines struct {
	ids  []object.ID
	line [2*object.SHA256Size + 1]byte
	rest []byte // of line
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(l.rest) > 0 {
			k := copy(p[n:], l.rest)
			n, l.rest = n+k, l.rest[k:]
			continue
		}
		if len(l.ids) == 0 {
			return n, io.EOF
		}
		if !l.ids[0].IsZero() {
			l.rest = append(l.ids[0].AppendHex(l.line[:0]), '\n')
		}
		l.ids = l.ids[1:]
	}
	return n, nil
}
