package render

import (
	"io"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// A Streamer renders Markdown that arrives in pieces, such as the answer of a
// model, block by block: a block is written when the next one has begun. However the
// source is cut, the output is that of [Output.Markdown] for the whole, except that
// a link cannot refer to a definition that comes after its block.
//
// It is not safe for concurrent use.
type Streamer struct {
	w       io.Writer
	md      *markdown
	pending []byte // source from the start of the last block on
	lines   int    // length of the complete lines of pending
	parsed  int    // that length when they were last parsed
	written bool   // a block has been written
	err     error
}

// NewStreamer returns a streamer that writes to w.
func NewStreamer(w io.Writer, o Output) *Streamer {
	return &Streamer{w: w, md: newMarkdown(o)}
}

// WriteString takes the next piece of the source.
func (s *Streamer) WriteString(piece string) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if end := strings.LastIndexByte(piece, '\n'); end >= 0 {
		s.lines = len(s.pending) + end + 1
	}
	s.pending = append(s.pending, piece...)
	// Only complete lines are parsed: the start of a line may look like the start of
	// a block that its rest is not. And they must have grown by a part of themselves, or
	// a block would be parsed again for every line of it; that part is small, because
	// as much text may be seen late.
	if s.lines > s.parsed+s.parsed/64 {
		s.flush()
	}
	if s.err != nil {
		return 0, s.err
	}
	return len(piece), nil
}

// Write is WriteString for bytes.
func (s *Streamer) Write(piece []byte) (int, error) { return s.WriteString(string(piece)) }

// Close renders what is left. The streamer cannot be used afterwards, except that a
// second Close is harmless.
func (s *Streamer) Close() error {
	if s.err == nil {
		rest := string(s.pending)
		s.pending, s.lines = nil, 0
		s.emit(s.md.parse(Sanitize(rest)), nil)
	}
	return s.err
}

// flush writes all blocks of the complete lines but the last.
func (s *Streamer) flush() {
	// Sanitising changes offsets, so what is kept is kept sanitised; doing it twice
	// does nothing.
	source := Sanitize(string(s.pending[:s.lines]))
	before := s.md.refs
	doc := s.md.parse(source)
	last := doc.LastChild()
	cut := blockStart(source, last)
	if cut <= 0 {
		s.md.refs = before
		s.parsed = s.lines
		return
	}
	s.emit(doc, last)
	s.pending = append([]byte(source[cut:]), s.pending[s.lines:]...)
	s.lines, s.parsed = len(source)-cut, 0
}

// blockStart returns the offset of the line on which n begins, 0 when unknown.
func blockStart(source string, n ast.Node) int {
	if n == nil || n.Pos() < 0 {
		return 0
	}
	return strings.LastIndexByte(source[:n.Pos()], '\n') + 1
}

// emit renders the children of doc before stop.
func (s *Streamer) emit(doc, stop ast.Node) {
	var b strings.Builder
	for c := doc.FirstChild(); c != nil && c != stop; c = c.NextSibling() {
		lines := s.md.block(c, max(s.md.width(), leastWidth))
		if len(lines) == 0 {
			continue
		}
		if s.written {
			b.WriteByte('\n')
		}
		b.WriteString(strings.Join(lines, "\n"))
		b.WriteByte('\n')
		s.written = true
	}
	if b.Len() > 0 {
		_, s.err = io.WriteString(s.w, b.String())
	}
}
