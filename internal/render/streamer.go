package render

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// A Streamer renders Markdown that arrives in pieces, such as the answer of a model, word by word:
// written text stays, and nothing moves the cursor back. A word is written when it is complete, and
// one of code, of HTML and of a table when its line is. The words are those of [Output.Markdown]
// for the complete text, in the same order; docs/models.md has the rules for forms that depend on
// later text.
//
// It is not safe for concurrent use.
type Streamer struct {
	w   io.Writer
	md  *markdown
	err error

	word    []byte // source after the last white space
	pending string // source of the open block, sanitised: complete words
	settled int    // offset in pending before which every span is closed or plain
	parsed  int    // length of pending when it was last rendered
	shown   int    // offset in pending of the written text
	number  int    // of the item at the beginning of pending, 0 for none
	written string // the written part of the first unit of pending, without colours
	gap     string // before that unit
	begun   bool   // something was written
}

// NewStreamer returns a streamer that writes to w.
func NewStreamer(w io.Writer, o Output) *Streamer {
	return &Streamer{w: w, md: newLiveMarkdown(o)}
}

// maxEager is the longest source of a block that is rendered for every word. A longer one is
// rendered when it has grown by a fraction of its length: otherwise its cost would be quadratic.
const maxEager = 4 << 10

// WriteString adds the next piece of the source.
func (s *Streamer) WriteString(piece string) (int, error) {
	for line := range strings.Lines(piece) {
		s.take(line)
		if s.err != nil {
			return 0, s.err
		}
	}
	return len(piece), nil
}

// Close renders the rest and ends the line. The streamer cannot be used afterwards, except that a
// second Close is harmless.
func (s *Streamer) Close() error {
	s.pending += Sanitize(string(s.word))
	s.word = nil
	if s.pending != "" {
		s.step(true)
	}
	if s.begun && s.err == nil {
		_, s.err = io.WriteString(s.w, "\n")
		s.begun = false
	}
	return s.err
}

// take adds source of at most a line.
func (s *Streamer) take(piece string) {
	end := strings.LastIndexAny(piece, " \t\n") + 1
	if end > 0 {
		end += len(s.word)
	}
	s.word = append(s.word, piece...)
	if end == 0 {
		return
	}
	s.pending += Sanitize(string(s.word[:end]))
	s.word = append(s.word[:0], s.word[end:]...)
	if n := len(s.pending); n <= maxEager || n-s.parsed > n/32 {
		s.step(false)
	}
}

// step writes everything that can be written by now, or the rest if all is set.
func (s *Streamer) step(all bool) {
	s.parsed = len(s.pending)
	doc := s.md.parse(s.pending)
	if s.settle(doc, all) {
		doc = s.md.parse(s.pending)
	}
	cut := len(s.pending)
	if !all {
		cut = s.cut(doc)
	}
	if cut <= s.shown && !all {
		return
	}
	if cut < len(s.pending) {
		doc = s.md.parse(s.pending[:cut])
	}
	s.show(doc, cut, all)
}

// settle makes delimiters of spans that are not closed soon enough plain, by escaping them in the
// source. It reports whether there were any.
func (s *Streamer) settle(doc ast.Node, all bool) (changed bool) {
	literal := s.literalLines(doc)
	var b strings.Builder // the settled text, with escapes
	first, from := s.settled, s.settled
	for open := false; !open && s.settled < len(s.pending); {
		start := strings.LastIndexByte(s.pending[:s.settled], '\n') + 1
		line, _, ended := strings.Cut(s.pending[start:], "\n")
		next := start + len(line)
		if ended {
			next++
		}
		if literal[start] || isFence(line) {
			s.settled = next
			continue
		}
		sp := openSpan(line, s.settled-start, ended || all)
		s.settled = start + sp.at
		switch {
		case sp.plain > 0:
			b.WriteString(s.pending[from:s.settled])
			from = s.settled + sp.plain
			b.WriteString(escaped(s.pending[s.settled:from]))
			s.settled = from
		case sp.at < len(line):
			open = true // it may still be closed
		default:
			s.settled = next
		}
	}
	if b.Len() == 0 {
		return false
	}
	s.settled += b.Len() - (from - first)
	s.pending = s.pending[:first] + b.String() + s.pending[from:]
	return true
}

// literalLines returns the offsets of the lines that are code or HTML and not settled.
func (s *Streamer) literalLines(doc ast.Node) map[int]bool {
	starts := map[int]bool{}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		if entering && isLiteral(n) {
			for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
				if line.Stop > s.settled {
					starts[strings.LastIndexByte(s.pending[:line.Start], '\n')+1] = true
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return starts
}

// isLiteral reports whether a block has no spans.
func isLiteral(n ast.Node) bool {
	switch n.Kind() {
	case ast.KindFencedCodeBlock, ast.KindCodeBlock, ast.KindHTMLBlock:
		return true
	default:
		return false
	}
}

// isFence reports whether a line may begin or end a block of code.
func isFence(line string) bool {
	line = strings.TrimLeft(line, " >\t")
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// markers are the characters with which only blocks begin.
const markers = " \t>*+-_=#~`|:.)0123456789"

// cut returns the offset in pending up to which it can be rendered: later text does not change that
// part.
func (s *Streamer) cut(doc ast.Node) int {
	cut := len(s.pending)
	if s.settled < cut {
		cut = strings.LastIndexAny(s.pending[:s.settled], " \t\n") + 1 // an open span
	}
	start := strings.LastIndexByte(s.pending[:cut], '\n') + 1
	last := lastBlock(doc)
	line := s.pending[start:cut]
	begins := strings.TrimLeft(line, " \t>")
	switch {
	case strings.Trim(line, markers) == "", isLiteral(last), last.Kind() == east.KindTable,
		begins != "" && strings.ContainsRune("|<", rune(begins[0])), isFence(line):
		cut = start // a line of these is shown when it is complete
	}
	if cut < start || cut > start {
		return cut
	}
	return s.cutTable(last, cut)
}

// cutTable holds back the head of a table until its first row has come, and a line that may be such
// a head.
func (s *Streamer) cutTable(last ast.Node, cut int) int {
	if last.Kind() == east.KindTable {
		if row := last.FirstChild().NextSibling(); row == nil || row.Pos() >= cut {
			return min(cut, blockStart(s.pending, last))
		}
		return cut
	}
	head := strings.LastIndexByte(s.pending[:max(cut-1, 0)], '\n') + 1
	if strings.HasPrefix(strings.TrimLeft(s.pending[head:cut], " \t>"), "|") && !isLiteral(last) {
		return head
	}
	return cut
}

// lastBlock returns the block at the end of the source.
func lastBlock(n ast.Node) ast.Node {
	for {
		last := n.LastChild()
		if last == nil || last.Type() == ast.TypeInline || n.Kind() == east.KindTable {
			return n
		}
		n = last
	}
}

// blockStart returns the offset of the line on which n begins, 0 when unknown.
func blockStart(source string, n ast.Node) int {
	if n == nil || n.Pos() < 0 {
		return 0
	}
	return strings.LastIndexByte(source[:n.Pos()], '\n') + 1
}

// A unit is written and dropped as a whole: a block, or an item of a list.
type unit struct {
	node   ast.Node
	lines  []string
	number int    // of an item in an ordered list, else 0
	gap    string // before it, if something is before it
}

// units renders the blocks of doc.
func (s *Streamer) units(doc ast.Node) (all []unit) {
	width := max(s.md.width(), leastWidth)
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		list, ok := n.(*ast.List)
		if !ok {
			all = append(all, unit{node: n, lines: s.md.block(n, width), gap: "\n\n"})
			continue
		}
		number := list.Start
		if n == doc.FirstChild() && s.number > 0 {
			number = s.number
		}
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			u := unit{node: item, lines: s.md.item(list, item, number, width), gap: "\n"}
			if item.HasBlankPreviousLines() || item == n.FirstChild() {
				u.gap = "\n\n"
			}
			if list.IsOrdered() {
				u.number = number
				number++
			}
			all = append(all, u)
		}
	}
	return all
}

// show writes the new part of pending[:cut], whose syntax tree is doc, and drops the source of all
// but the last of its units.
func (s *Streamer) show(doc ast.Node, cut int, all bool) {
	units := s.units(doc)
	for i, u := range units {
		open := i == len(units)-1 && !all
		if open && isLiteral(lastBlock(u.node)) && lastBlock(u.node).Kind() != ast.KindHTMLBlock {
			u.lines = u.lines[:len(u.lines)-1] // the fence below the code
		}
		if s.written == "" && s.begun {
			s.gap = u.gap
		}
		if !s.write(strings.Join(u.lines, "\n")) {
			s.part()
			s.step(all)
			return
		}
		if !open {
			s.written = ""
		}
	}
	s.shown = cut
	if len(units) > 0 && !all {
		s.forget(units[len(units)-1])
	}
}

// write writes the part of a unit that was not written yet. It reports whether the written text is
// its beginning: it is not if a rule of Markdown was missed.
func (s *Streamer) write(rendered string) bool {
	seen := ansi.Strip(rendered)
	if !strings.HasPrefix(seen, s.written) {
		return false
	}
	rest := after(rendered, len(s.written))
	if rest == "" || s.err != nil {
		return true
	}
	if s.written == "" {
		rest = s.gap + rest
	}
	_, s.err = io.WriteString(s.w, rest)
	s.written, s.begun = seen, true
	return true
}

// after returns the text after the first n visible bytes, in its colours.
func after(rendered string, n int) string {
	colour := ""
	for i := 0; i < len(rendered); {
		if l := SGRLen(rendered[i:]); l > 0 {
			colour = rendered[i : i+l]
			i += l
			continue
		}
		if n == 0 {
			if colour == shut {
				colour = ""
			}
			return colour + rendered[i:]
		}
		i++
		n--
	}
	return ""
}

// part makes the source after the written text a separate block: then nothing of it is missing,
// though it looks different from the complete text.
func (s *Streamer) part() {
	s.drop(s.shown)
	s.written, s.gap, s.number = "", "\n", 0
}

// drop removes the beginning of the source.
func (s *Streamer) drop(n int) {
	s.pending = s.pending[n:]
	s.settled, s.shown, s.parsed = max(s.settled-n, 0), max(s.shown-n, 0), max(s.parsed-n, 0)
}

// forget drops the source before the last unit, and the lines of its code except the fence above
// them.
func (s *Streamer) forget(last unit) {
	code := 0
	if n := last.node.Lines().Len(); last.node.Kind() == ast.KindFencedCodeBlock && n > 0 {
		code = last.node.Lines().At(n - 1).Stop
	}
	start := blockStart(s.pending, last.node)
	s.drop(start)
	s.number = last.number
	if code == 0 {
		return
	}
	fence := strings.IndexByte(s.pending, '\n') + 1
	head := s.pending[:fence]
	s.drop(code - start - fence)
	s.pending = head + s.pending[fence:]
	s.written = ansi.Strip(last.lines[0])
}
