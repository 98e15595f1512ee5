package render

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inlines renders the inline children of n on top of the style base. Styles do not nest: each piece
// of text has its complete style.
func (r *markdown) inlines(n ast.Node, base style) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.WriteString(r.inline(c, base))
	}
	return b.String()
}

func (r *markdown) inline(n ast.Node, base style) string {
	switch n := n.(type) {
	case *ast.Text:
		return r.text(n, base)
	case *ast.String:
		return r.out.styled(base, inlineText(string(n.Value)))
	case *ast.CodeSpan:
		return r.marked("`", r.plain(n), base&^(red|green|blue|magenta|cyan)|styleCode)
	case *ast.Emphasis:
		if n.Level > 1 {
			return r.emphasis(n, "**", base|bold)
		}
		return r.emphasis(n, "*", base|italic)
	case *east.Strikethrough:
		return r.emphasis(n, "~~", base|strike)
	case *ast.Link:
		return r.link(r.inlines(n, base|styleLink), r.plain(n), target{n.Destination, n.Title})
	case *ast.Image:
		alt := r.alt(n)
		return r.link(r.out.styled(base, "["+alt+"]"), "", target{n.Destination, n.Title})
	case *ast.AutoLink:
		return r.out.styled(base|styleLink, inlineText(string(n.Label(r.src))))
	case *ast.RawHTML:
		return r.out.styled(base|styleMark, inlineText(string(n.Segments.Value(r.src))))
	case *east.TaskCheckBox:
		if n.IsChecked {
			return "[x] "
		}
		return "[ ] "
	default:
		return r.inlines(n, base)
	}
}

func (r *markdown) text(n *ast.Text, base style) string {
	value := string(n.Value(r.src))
	if !n.IsRaw() {
		value = unescape(value)
	}
	out := r.out.styled(base, inlineText(value))
	if n.SoftLineBreak() || n.HardLineBreak() {
		out += "\n"
	}
	return out
}

// emphasis keeps the marks if there is no colour to show what they mean.
func (r *markdown) emphasis(n ast.Node, mark string, st style) string {
	if r.out.Color {
		return r.inlines(n, st)
	}
	return mark + r.inlines(n, st) + mark
}

func (r *markdown) marked(mark, value string, st style) string {
	if r.out.Color {
		return r.out.styled(st, value)
	}
	return mark + r.out.styled(st, value) + mark
}

// A target is what a link leads to, and the title that it has beside its text.
type target struct{ destination, title []byte }

// link shows the destination of a link, unless its text is the destination. An escape code that
// makes the text clickable would hide it.
func (r *markdown) link(shown, label string, to target) string {
	said := inlineText(unescape(string(to.destination)))
	if said == label {
		said = ""
	}
	if title := inlineText(unescape(string(to.title))); title != "" {
		said = strings.TrimSpace(said + ` "` + title + `"`)
	}
	switch {
	case said == "":
		return shown
	case shown == "":
		return r.out.styled(styleLink, said)
	default:
		return shown + " " + r.out.styled(styleMark, "("+said+")")
	}
}

// alt returns the text in the place of an image, with the addresses of what it links to.
func (r *markdown) alt(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		to := ""
		switch c := c.(type) {
		case *ast.Link:
			to = inlineText(unescape(string(c.Destination)))
		case *ast.Image:
			to = inlineText(unescape(string(c.Destination)))
		}
		switch text := r.alt(c); {
		case to != "":
			b.WriteString(strings.TrimSpace(text + " (" + to + ")"))
		case c.HasChildren() && c.Kind() != ast.KindCodeSpan:
			b.WriteString(text)
		default:
			b.WriteString(r.said(n, c))
		}
	}
	return b.String()
}

// plain returns the text of n without any style, not sanitised.
func (r *markdown) plain(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.WriteString(r.said(n, c))
	}
	return b.String()
}

// said returns the text of a child.
func (r *markdown) said(in, n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		value := string(n.Value(r.src))
		if in.Kind() != ast.KindCodeSpan {
			value = unescape(value)
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			value += " "
		}
		return inlineText(value)
	case *ast.String:
		return inlineText(string(n.Value))
	case *ast.AutoLink:
		return inlineText(string(n.Label(r.src)))
	default:
		return r.plain(n)
	}
}

// inlineText makes s fit for a paragraph: a tab has no width that wrapping could know, and line
// feeds come from the syntax tree, or from an entity that must not forge lines.
func inlineText(s string) string {
	return strings.NewReplacer("\t", " ", "\n", " ").Replace(s)
}

// unescape resolves backslash escapes and character references in one pass, so
// that the result of one is never read as another.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case c == '&':
			value, n := reference(s[i:])
			b.WriteString(value)
			i += n - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// reference returns the character reference that s begins with and its length; the
// ampersand itself when there is none.
func reference(s string) (value string, n int) {
	const longest = 33 // "&CounterClockwiseContourIntegral;"
	if end := strings.IndexByte(s[:min(len(s), longest)], ';'); end > 0 {
		if value := html.UnescapeString(s[:end+1]); value != s[:end+1] {
			return value, end + 1
		}
	}
	return "&", 1
}
