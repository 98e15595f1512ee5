package gfm

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// What goldmark does with a text can take the square of its length, and lists in lists as many
// frames of the stack. Each of its parsers is wrapped here, and asks before it begins: there is
// work for a text in proportion to its length, and what asks for more than is left stays text. What
// is smaller, before and behind it, still has its marks.
const (
	// deepest is how many quotes and lists may be in each other.
	deepest = 40
	// widest is how many columns a table has at most.
	widest = 100
	// eachText and eachByte are the work for a text, in bytes that are looked at. Of the texts that
	// people and models write none comes near.
	eachText, eachByte = 1 << 20, 256
	// eachCell is what a cell costs that a row of a table leaves out.
	eachCell = 1 << 11
)

// work is what is left for one text.
type work struct {
	left  int
	short bool // something asked for more
}

var workKey = parser.NewContextKey()

// workOf returns that of a text.
func workOf(pc parser.Context, source []byte) *work {
	w, _ := pc.ComputeIfAbsent(workKey, func() any {
		return &work{left: eachText + eachByte*len(source)}
	}).(*work)
	return w
}

// take reports whether there is as much left, and takes it.
func (w *work) take(n int) bool {
	if n > w.left {
		w.short = true
		return false
	}
	w.left -= n
	return true
}

// Short is said below a text of which something stayed text.
const Short = "Some marks are shown as they were written: there are too many."

// shortMeta is on a document of which something stayed text.
const shortMeta = "short"

// IsShort reports whether something in a document stayed text because it would have taken too much
// work to read its marks.
func IsShort(n ast.Node) bool {
	doc, ok := n.(*ast.Document)
	return ok && doc.Meta()[shortMeta] != nil
}

// notes puts on the document that something stayed text.
type notes struct{}

// Transform implements [parser.ASTTransformer].
func (notes) Transform(doc *ast.Document, r text.Reader, pc parser.Context) {
	if workOf(pc, r.Source()).short {
		doc.AddMeta(shortMeta, true)
	}
}

// span is the length of the source that a block has.
func span(n ast.Node) int {
	lines := n.Lines()
	if lines.Len() == 0 {
		return 0
	}
	return lines.At(lines.Len()-1).Stop - lines.At(0).Start
}

// An inline looks at no more than its block, each time that it is asked.
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

// A container is a quote or a list.
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
	// The parser of lists is asked in a list whether it is one of its items, and keeps count.
	if depth >= deepest && parent.Kind() != ast.KindList {
		workOf(pc, reader.Source()).short = true
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// definitions looks at the whole paragraph for each definition of a link that it begins with.
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
