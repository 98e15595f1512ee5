package gfm

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// goldmark can take time that is quadratic in the length of a text, and for nested lists one stack
// frame for each level. Each of its parsers is wrapped here and asks for permission first: the
// amount of work for a text is proportional to its length, and markup that needs more than is left
// stays text. Smaller markup before and after it is still parsed.
const (
	// deepest is how deep quotes and lists may nest.
	deepest = 40
	// widest is the largest number of columns of a table.
	widest = 100
	// eachText and eachByte give the work for a text, in bytes to look at. No text that people and
	// models write comes near.
	eachText, eachByte = 1 << 20, 256
	// eachCell is the work for a cell that a row of a table leaves out.
	eachCell = 1 << 11
)

// work counts the work that is left for one text.
type work struct {
	left  int
	short bool // a parser asked for more than was left
}

var workKey = parser.NewContextKey()

// workOf returns the work of the text that pc parses.
func workOf(pc parser.Context, source []byte) *work {
	w, _ := pc.ComputeIfAbsent(workKey, func() any {
		return &work{left: eachText + eachByte*len(source)}
	}).(*work)
	return w
}

// take subtracts n from the work that is left. It returns false if less is left.
func (w *work) take(n int) bool {
	if n > w.left {
		w.short = true
		return false
	}
	w.left -= n
	return true
}

// Short is printed below a text in which some markup was not parsed.
const Short = "Some markup is shown as it was written: there is too much of it."

// shortMeta marks a document in which some markup was not parsed.
const shortMeta = "short"

// IsShort reports whether some markup of a document stayed text because parsing it would have taken
// too much work.
func IsShort(n ast.Node) bool {
	doc, ok := n.(*ast.Document)
	return ok && doc.Meta()[shortMeta] != nil
}

// notes marks the document if some markup stayed text.
type notes struct{}

// Transform implements [parser.ASTTransformer].
func (notes) Transform(doc *ast.Document, r text.Reader, pc parser.Context) {
	if workOf(pc, r.Source()).short {
		doc.AddMeta(shortMeta, true)
	}
}

// span returns the length of a block's source.
func span(n ast.Node) int {
	lines := n.Lines()
	if lines.Len() == 0 {
		return 0
	}
	return lines.At(lines.Len()-1).Stop - lines.At(0).Start
}

// An inline pays for the length of its block each time: its parser looks no further.
type inline struct{ parser.InlineParser }

// Parse implements [parser.InlineParser].
func (p inline) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if !workOf(pc, block.Source()).take(span(parent)) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// CloseBlock implements [parser.CloseBlocker].
func (p inline) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// A container parses a quote or a list.
type container struct{ parser.BlockParser }

// Open implements [parser.BlockParser].
func (p container) Open(
	parent ast.Node, reader text.Reader, pc parser.Context,
) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if k := n.Kind(); k == ast.KindList || k == ast.KindBlockquote {
			depth++
		}
	}
	// In a list, its parser must also be asked whether a line is a list item, because it counts
	// them.
	if depth >= deepest && parent.Kind() != ast.KindList {
		workOf(pc, reader.Source()).short = true
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// definitions pays for the whole paragraph for each line: each link definition may search all of
// it.
type definitions struct{ parser.ParagraphTransformer }

// Transform implements [parser.ParagraphTransformer].
func (d definitions) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	first := p.Lines().At(0)
	line := util.TrimLeftSpace(first.Value(reader.Source()))
	if len(line) == 0 || line[0] != '[' ||
		workOf(pc, reader.Source()).take(p.Lines().Len()*span(p)) {
		d.ParagraphTransformer.Transform(p, reader, pc)
	}
}
