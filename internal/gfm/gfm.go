package gfm

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// New returns goldmark with the extension, within the bounds, and with further inline parsers. With
// live, it leaves out markup that only a later line completes: link definitions and underlined
// headings.
func New(live bool, further ...util.PrioritizedValue) goldmark.Markdown {
	blocks := parser.DefaultBlockParsers()
	if live {
		blocks = blocks[1:] // the parser of underlined headings
	}
	for i, v := range blocks {
		switch p := v.Value.(parser.BlockParser); p {
		case parser.NewListParser(), parser.NewBlockquoteParser():
			blocks[i].Value = container{p}
		}
	}
	inlines := append(parser.DefaultInlineParsers(), util.Prioritized(strikes{}, 500))
	for i, v := range inlines {
		p, _ := v.Value.(parser.InlineParser)
		inlines[i].Value = inline{p}
	}
	paragraphs := []util.PrioritizedValue{util.Prioritized(tables{}, 200)}
	if !live {
		paragraphs = append(paragraphs,
			util.Prioritized(definitions{parser.LinkReferenceParagraphTransformer}, 100))
	}
	md := goldmark.New(goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(inlines...),
		parser.WithInlineParsers(util.Prioritized(boxes{}, 0)), // before links
		parser.WithInlineParsers(further...),
		parser.WithParagraphTransformers(paragraphs...),
		parser.WithASTTransformers(util.Prioritized(pipes{}, 0), util.Prioritized(notes{}, 0)),
	)))
	md.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(writer{}, 500)))
	return md
}

// strikes finds ~text~ and ~~text~~.
type strikes struct{}

// Trigger implements [parser.InlineParser].
func (strikes) Trigger() []byte { return []byte{'~'} }

// Parse implements [parser.InlineParser].
func (strikes) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	mark := parser.ScanDelimiter(line, before, 1, tildes{})
	if mark == nil || mark.OriginalLength > 2 || before == '~' {
		return nil
	}
	mark.Segment = segment.WithStop(segment.Start + mark.OriginalLength)
	block.Advance(mark.OriginalLength)
	pc.PushDelimiter(mark)
	return mark
}

// tildes implements [parser.DelimiterProcessor].
type tildes struct{}

// IsDelimiter implements [parser.DelimiterProcessor].
func (tildes) IsDelimiter(b byte) bool { return b == '~' }

// CanOpenCloser implements [parser.DelimiterProcessor].
func (tildes) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch implements [parser.DelimiterProcessor].
func (tildes) OnMatch(int) ast.Node { return east.NewStrikethrough() }

// boxes finds [ ] and [x] at the beginning of an item of a list.
type boxes struct{}

// Trigger implements [parser.InlineParser].
func (boxes) Trigger() []byte { return []byte{'['} }

// Parse implements [parser.InlineParser].
func (boxes) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	item, ok := parent.Parent().(*ast.ListItem)
	if !ok || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, _ := block.PeekLine()
	if len(line) < len("[ ]") || line[2] != ']' {
		return nil
	}
	checked := line[1] == 'x' || line[1] == 'X'
	if !checked && !isSpace(line[1]) {
		return nil
	}
	n := len("[ ]")
	for n < len(line) && isSpace(line[n]) {
		n++
	}
	block.Advance(n)
	return east.NewTaskCheckBox(checked)
}

// isSpace reports whether `\s` of regular expressions matches.
func isSpace(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' || b == '\f' || b == '\r'
}

// writer writes these nodes as HTML.
type writer struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (writer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(east.KindTable, element("<table>\n", "</table>\n"))
	r.Register(east.KindTableHeader, header)
	r.Register(east.KindTableRow, row)
	r.Register(east.KindTableCell, cell)
	r.Register(east.KindStrikethrough, element("<del>", "</del>"))
	r.Register(east.KindTaskCheckBox, box)
}

// element writes the text before and after the children of a node.
func element(before, after string) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			return write(w, before)
		}
		return write(w, after)
	}
}

func write(w util.BufWriter, text string) (ast.WalkStatus, error) {
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

func header(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch {
	case entering:
		return write(w, "<thead>\n<tr>\n")
	case n.NextSibling() != nil:
		return write(w, "</tr>\n</thead>\n<tbody>\n")
	default:
		return write(w, "</tr>\n</thead>\n")
	}
}

func row(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch {
	case entering:
		return write(w, "<tr>\n")
	case n.NextSibling() == nil:
		return write(w, "</tr>\n</tbody>\n")
	default:
		return write(w, "</tr>\n")
	}
}

func cell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "td"
	if n.Parent().Kind() == east.KindTableHeader {
		tag = "th"
	}
	c, ok := n.(*east.TableCell)
	switch {
	case !entering:
		return write(w, "</"+tag+">\n")
	case ok && c.Alignment != east.AlignNone:
		return write(w, "<"+tag+` align="`+c.Alignment.String()+`">`)
	default:
		return write(w, "<"+tag+">")
	}
}

func box(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	b, ok := n.(*east.TaskCheckBox)
	switch {
	case !entering || !ok:
		return ast.WalkContinue, nil
	case b.IsChecked:
		return write(w, `<input checked="" disabled="" type="checkbox"> `)
	default:
		return write(w, `<input disabled="" type="checkbox"> `)
	}
}
