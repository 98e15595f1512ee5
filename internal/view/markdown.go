package view

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/internal/gfm"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// prose turns Markdown into HTML in which only Markdown's own constructs are markup: tags are shown
// as they were written, pictures as links to their address.
type prose struct {
	md    goldmark.Markdown
	level int // of the heading that the text is below
	code  *budget
}

// newProse returns a renderer for messages below a heading of a level.
func newProse(level int, code *budget) *prose {
	p := &prose{level: level, code: code}
	p.md = gfm.New(false, util.Prioritized(redactedParser{}, 150)) // before links
	p.md.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(p, 100)))
	return p
}

// write writes a text.
func (p *prose) write(m *markup, source string) {
	src := []byte(render.Sanitize(source))
	doc := p.md.Parser().Parse(text.NewReader(src))
	nestHeadings(doc, p.level)
	widen(doc, src)
	var b bytes.Buffer
	if err := p.md.Renderer().Render(&b, src, doc); err != nil && m.err == nil {
		m.err = err
		return
	}
	m.open("div", class("prose"))
	m.raw(trusted(b.String()))
	m.end("div")
	if gfm.IsShort(doc) {
		m.put("p", gfm.Short, class("note"))
	}
}

// nestHeadings gives headings consecutive levels, below one: a screen reader that lists the
// headings of the page then finds no gaps.
func nestHeadings(doc ast.Node, below int) {
	const deepest = 6
	var open []int
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		for len(open) > 0 && open[len(open)-1] >= h.Level {
			open = open[:len(open)-1]
		}
		open = append(open, h.Level)
		h.Level = min(below+len(open), deepest)
	}
}

// widen adds cells for what rows of tables have beyond the columns.
func widen(doc ast.Node, source []byte) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Kind() != east.KindTableRow {
			return ast.WalkContinue, nil
		}
		if more := gfm.Excess(n, source); more != "" {
			cell := east.NewTableCell()
			cell.AppendChild(cell, ast.NewString([]byte(more)))
			n.AppendChild(n, cell)
		}
		return ast.WalkContinue, nil
	})
}

// RegisterFuncs implements [renderer.NodeRenderer].
func (p *prose) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, rendered(p.htmlBlock))
	r.Register(ast.KindRawHTML, rendered(p.rawHTML))
	r.Register(ast.KindLinkReferenceDefinition, rendered(p.definition))
	r.Register(ast.KindImage, rendered(p.image))
	r.Register(ast.KindLink, p.link)
	r.Register(ast.KindAutoLink, rendered(p.autoLink))
	r.Register(ast.KindFencedCodeBlock, rendered(p.fenced))
	r.Register(ast.KindCodeBlock, rendered(p.fenced))
	r.Register(kindRedacted(), rendered(p.redacted))
}

// rendered returns a renderer of nodes whose children are not rendered.
func rendered(f func(m *markup, source []byte, n ast.Node)) renderer.NodeRendererFunc {
	return func(
		w util.BufWriter, source []byte, n ast.Node, entering bool,
	) (ast.WalkStatus, error) {
		m := &markup{w: w}
		if entering {
			f(m, source, n)
		}
		return ast.WalkSkipChildren, m.err
	}
}

func (p *prose) htmlBlock(m *markup, source []byte, n ast.Node) {
	block, _ := n.(*ast.HTMLBlock)
	lines := string(block.Lines().Value(source))
	if block.HasClosure() {
		lines += string(block.ClosureLine.Value(source))
	}
	m.open("p", class("tags"))
	m.text(strings.TrimRight(lines, "\n"))
	m.end("p")
}

// definition writes the definition of a link as it was written: it may have more than the links
// that refer to it.
func (p *prose) definition(m *markup, source []byte, n ast.Node) {
	m.put("p", strings.TrimRight(string(n.Lines().Value(source)), "\n"), class("tags"))
}

func (p *prose) rawHTML(m *markup, source []byte, n ast.Node) {
	raw, _ := n.(*ast.RawHTML)
	m.put("span", string(raw.Segments.Value(source)), class("tags"))
}

// image names a picture: showing one from elsewhere would tell its server who reads the page.
func (p *prose) image(m *markup, source []byte, n ast.Node) {
	img, _ := n.(*ast.Image)
	alt := plainText(n, source)
	if alt == "" {
		alt = string(img.Destination)
	}
	m.text("🖼 ")
	if to, ok := outside(string(img.Destination)); ok {
		m.put("a", alt, append(to, titled(string(img.Title)))...)
		return
	}
	m.put("span", alt, titled(string(img.Destination), string(img.Title)))
}

// titled returns a title of the words that are not empty.
func titled(words ...string) attr {
	if title := strings.TrimSpace(strings.Join(words, " ")); title != "" {
		return attr{"title", title}
	}
	return attr{}
}

// link writes a link to a web address; other links are shown as their text.
func (p *prose) link(
	w util.BufWriter, _ []byte, n ast.Node, entering bool,
) (ast.WalkStatus, error) {
	m := &markup{w: w}
	link, _ := n.(*ast.Link)
	to, ok := outside(string(link.Destination))
	switch {
	case ok && entering:
		m.open("a", append(to, titled(string(link.Title)))...)
	case ok:
		m.end("a")
	case entering:
		m.open("span", class("nowhere"), titled(string(link.Destination), string(link.Title)))
	default:
		m.end("span")
	}
	return ast.WalkContinue, m.err
}

func (p *prose) autoLink(m *markup, source []byte, n ast.Node) {
	link, _ := n.(*ast.AutoLink)
	label := string(link.Label(source))
	if to, ok := outside(string(link.URL(source))); ok {
		m.put("a", label, to...)
		return
	}
	m.text(label)
}

// outside returns the attributes of a link to an address on the web, to which the browser sends no
// referrer.
func outside(address string) ([]attr, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return nil, false
	}
	return []attr{href(u.String()), {"rel", "noopener noreferrer nofollow"}}, true
}

func (p *prose) fenced(m *markup, source []byte, n ast.Node) {
	language := ""
	if block, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(block.Language(source))
	}
	body := strings.TrimSuffix(string(n.Lines().Value(source)), "\n")
	isPatch := language == "diff" || language == "patch"
	info := gfm.Info(n, source)
	if info != "" && !render.IsLanguage(info) && (!isPatch || info != language) {
		m.put("p", info, class("tags"))
	}
	if isPatch {
		writePatch(m, body)
		return
	}
	m.open("pre", scrolls())
	m.open("code")
	p.code.write(m, language, body)
	m.end("code")
	m.end("pre")
}

// plainText returns the text of a node without its marks, with the addresses of what it links to.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(in ast.Node, entering bool) (ast.WalkStatus, error) {
		switch in := in.(type) {
		case *ast.Text:
			if entering {
				b.Write(in.Value(source))
			}
		case *ast.AutoLink:
			if entering {
				b.Write(in.Label(source))
			}
		case *ast.Link:
			if !entering {
				fmt.Fprintf(&b, " (%s)", in.Destination)
			}
		case *ast.Image:
			if !entering && in != n {
				fmt.Fprintf(&b, " (%s)", in.Destination)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// kindRedacted is made when it is needed, so that the rest of the program does not pay for it.
var kindRedacted = sync.OnceValue(func() ast.NodeKind { return ast.NewNodeKind("Redacted") })

// A redaction is the mark of a redacted secret.
type redaction struct {
	ast.BaseInline

	words string
}

// Kind implements [ast.Node].
func (*redaction) Kind() ast.NodeKind { return kindRedacted() }

// Dump implements [ast.Node].
func (r *redaction) Dump(source []byte, level int) {
	ast.DumpHelper(r, source, level, map[string]string{"Words": strconv.Quote(r.words)}, nil)
}

func (p *prose) redacted(m *markup, _ []byte, n ast.Node) {
	r, _ := n.(*redaction)
	m.mark(r.words)
}

// redactedParser finds marks of secrets, which would otherwise be links.
type redactedParser struct{}

// Trigger implements [parser.InlineParser].
func (redactedParser) Trigger() []byte { return []byte{'['} }

// Parse implements [parser.InlineParser].
func (redactedParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	n := redactedLen(line)
	if n == 0 {
		return nil
	}
	block.Advance(n)
	return &redaction{words: string(line[:n])}
}
