package render

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/git-jp/git-jp/internal/gfm"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Markdown renders source, CommonMark with GitHub's tables, task lists and strikethrough, for a
// terminal. It ends with a line feed unless there is nothing to show. Line breaks inside a
// paragraph stay, as people who write to a model mean them. Without colour, the marks of emphasis
// and code stay.
func (o Output) Markdown(source string) string {
	r := newMarkdown(o)
	doc := r.parse(Sanitize(source))
	lines := r.blocks(doc, r.width())
	if gfm.IsShort(doc) {
		lines = append(lines, "", o.styled(styleMark, gfm.Short))
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// markdown renders the syntax tree of one source as lines. Rendering lines
// instead of bytes lets containers put their prefix before each of them.
type markdown struct {
	out    Output
	parser parser.Parser
	live   bool // the source is incomplete
	src    []byte
}

// unlimited is the width of an output without one.
const unlimited = 1 << 20

// leastWidth is the width that stays however deep the nesting is.
const leastWidth = 16

func newMarkdown(o Output) *markdown {
	return &markdown{out: o, parser: gfm.New(false).Parser()}
}

// newLiveMarkdown renders incomplete source: everything that depends on a later line is decided
// without it. An underline makes no heading, links have their destination with them, and the
// columns of a table are those of its first rows.
func newLiveMarkdown(o Output) *markdown {
	return &markdown{out: o, parser: gfm.New(true).Parser(), live: true}
}

func (r *markdown) width() int {
	if r.out.Width <= 0 {
		return unlimited
	}
	return r.out.Width
}

// parse sets the source that is rendered.
func (r *markdown) parse(source string) ast.Node {
	r.src = []byte(source)
	return r.parser.Parse(text.NewReader(r.src))
}

// blocks renders the children of n with an empty line between them.
func (r *markdown) blocks(n ast.Node, width int) []string {
	var all []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := r.block(c, max(width, leastWidth))
		if len(all) > 0 && len(lines) > 0 {
			all = append(all, "")
		}
		all = append(all, lines...)
	}
	return all
}

func (r *markdown) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return r.heading(n, width)
	case *ast.Paragraph, *ast.TextBlock:
		return r.wrap(r.inlines(n, 0), width)
	case *ast.ThematicBreak:
		return []string{r.out.styled(styleMark, strings.Repeat("─", min(width, 40)))}
	case *ast.FencedCodeBlock:
		return r.code(n, string(n.Language(r.src)))
	case *ast.CodeBlock:
		return r.code(n, "")
	case *ast.Blockquote:
		return prefixed(r.out.styled(styleMark, "│ "), r.blocks(n, width-2))
	case *ast.List:
		return r.list(n, width)
	case *ast.HTMLBlock:
		raw := string(n.Lines().Value(r.src))
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(r.src))
		}
		return splitLines(r.out.styled(styleMark, raw))
	case *east.Table:
		return r.table(n, width)
	case *ast.LinkReferenceDefinition: // it may have more than the links that refer to it
		return splitLines(r.out.styled(styleMark, string(n.Lines().Value(r.src))))
	default:
		return r.blocks(n, width)
	}
}

// heading keeps the number signs, which show the level in any terminal.
func (r *markdown) heading(n *ast.Heading, width int) []string {
	marks := strings.Repeat("#", n.Level) + " "
	lines := r.wrap(r.inlines(n, styleHeading), width-len(marks))
	if len(lines) == 0 {
		return nil
	}
	return hanging(r.out.styled(styleHeading, marks), len(marks), lines)
}

// code shows a code block with its fence and without wrapping, so that text copied from the
// terminal is the code.
func (r *markdown) code(n ast.Node, language string) []string {
	body := string(n.Lines().Value(r.src))
	fence := r.fence(n)
	lines := []string{r.out.styled(styleMark, fence+inlineText(gfm.Info(n, r.src)))}
	if body != "" {
		for line := range strings.SplitSeq(strings.TrimSuffix(body, "\n"), "\n") {
			lines = append(lines, r.out.codeLine(language, line))
		}
	}
	return append(lines, r.out.styled(styleMark, fence))
}

// fence returns the fence of the source: no line of the code is as long.
func (r *markdown) fence(n ast.Node) string {
	const least = "```"
	if n.Kind() != ast.KindFencedCodeBlock || n.Pos() < 0 {
		return least
	}
	rest := r.src[n.Pos():]
	run := len(rest) - len(bytes.TrimLeft(rest, string(rest[:1])))
	if run < len(least) {
		return least
	}
	return string(rest[:run])
}

func (r *markdown) list(n *ast.List, width int) []string {
	var all []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if len(all) > 0 && r.apart(n, item) {
			all = append(all, "")
		}
		all = append(all, r.item(n, item, number, width)...)
		number++
	}
	return all
}

// apart reports whether an empty line comes before a block of a list or before an item. While the
// list grows, it does if the source has one.
func (r *markdown) apart(list *ast.List, n ast.Node) bool {
	if r.live {
		return n.HasBlankPreviousLines()
	}
	return !list.IsTight
}

// item renders an item of a list.
func (r *markdown) item(list *ast.List, item ast.Node, number, width int) []string {
	mark := "• "
	if list.IsOrdered() {
		mark = strconv.Itoa(number) + string(list.Marker) + " "
	}
	indent := ansi.StringWidth(mark)
	var lines []string
	for c := item.FirstChild(); c != nil; c = c.NextSibling() {
		block := r.block(c, max(width-indent, leastWidth))
		if len(lines) > 0 && len(block) > 0 && r.apart(list, c) {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	if len(lines) == 0 {
		lines = []string{""}
	}
	return hanging(r.out.styled(styleMark, mark), indent, lines)
}

// wrap breaks styled text into lines of at most width columns.
func (r *markdown) wrap(styled string, width int) []string {
	if strings.Trim(styled, " \n") == "" {
		return nil
	}
	return reopened(splitLines(ansi.Wrap(styled, width, "")))
}

// reopened ends the style that is in force at the end of each line and begins it again on the next.
// Only sequences of Output.styled occur, so the last one of a line is in force.
func reopened(lines []string) []string {
	open := ""
	for i, line := range lines {
		line = open + line
		if at := strings.LastIndex(line, "\x1b["); at >= 0 {
			end := strings.IndexByte(line[at:], 'm') + at + 1
			open = line[at:end]
			if open == shut {
				open = ""
			}
		}
		if open != "" {
			line += shut
		}
		lines[i] = line
	}
	return lines
}

// shut ends a style.
const shut = "\x1b[m"

// hanging puts first before the first line and the same width of space before the others.
func hanging(first string, indent int, lines []string) []string {
	space := strings.Repeat(" ", indent)
	for i, line := range lines {
		switch {
		case i == 0:
			lines[i] = first + line
		case line != "":
			lines[i] = space + line
		}
	}
	return lines
}

func prefixed(prefix string, lines []string) []string {
	for i, line := range lines {
		lines[i] = prefix + line
	}
	return lines
}

// splitLines returns the lines of s; a line feed at the end begins no further one.
func splitLines(s string) []string {
	s = strings.TrimSuffix(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
