package view

import (
	"html"
	"io"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
)

// A name is the name of an element or an attribute. Only constants of this package are names.
type name string

// A trusted is HTML that this package made.
type trusted string

// An attr is an attribute. Its value is escaped where it is written.
type attr struct {
	name  name
	value string
}

func class(value string) attr { return attr{"class", value} }
func id(value string) attr    { return attr{"id", value} }
func href(value string) attr  { return attr{"href", value} }

// flag is an attribute without a value.
func flag(n name) attr { return attr{n, ""} }

// A markup writes HTML and keeps the first error of the writer.
type markup struct {
	w      io.Writer
	beside *Rest // nil if the page has everything
	err    error
}

func (m *markup) raw(t trusted) {
	if m.err == nil {
		_, m.err = io.WriteString(m.w, string(t))
	}
}

// open begins an element.
func (m *markup) open(el name, attrs ...attr) {
	var b strings.Builder
	b.WriteByte('<')
	b.WriteString(string(el))
	for _, a := range attrs {
		if a.name == "" {
			continue
		}
		b.WriteByte(' ')
		b.WriteString(string(a.name))
		if a.value != "" {
			b.WriteString(`="`)
			b.WriteString(html.EscapeString(render.Sanitize(a.value)))
			b.WriteByte('"')
		}
	}
	b.WriteByte('>')
	m.raw(trusted(b.String()))
}

func (m *markup) end(el name) { m.raw(trusted("</" + string(el) + ">")) }

// put writes an element with text.
func (m *markup) put(el name, text string, attrs ...attr) {
	m.open(el, attrs...)
	m.text(text)
	m.end(el)
}

// escaped escapes the characters that end a text. Between tags quotes are only text, and code has
// many.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// text writes text with control and bidirectional characters visible, and marks redactions.
func (m *markup) text(s string) {
	s = render.Sanitize(s)
	for {
		at := strings.Index(s, redactedPrefix)
		if at < 0 {
			m.raw(trusted(escaped.Replace(s)))
			return
		}
		n := redactedLen(s[at:])
		m.raw(trusted(escaped.Replace(s[:at])))
		if n > 0 {
			m.mark(s[at : at+n])
		} else {
			n = len(redactedPrefix)
			m.raw(redactedPrefix)
		}
		s = s[at+n:]
	}
}

// mark writes the mark of a redacted secret.
func (m *markup) mark(s string) {
	m.raw(`<mark class="redacted" title="A secret was taken out here">`)
	m.raw(trusted(escaped.Replace(s)))
	m.raw("</mark>")
}

const redactedPrefix = "[redacted:"

// redactedLen returns the length of the redaction mark at the beginning of s, in the form of
// docs/format.md, or 0 if there is none. It reads nothing beyond the mark.
func redactedLen[T string | []byte](s T) int {
	n := len(redactedPrefix)
	if len(s) < n || string(s[:n]) != redactedPrefix {
		return 0
	}
	for i := n; i < len(s); i++ {
		switch c := s[i]; {
		case c == ']' && i > n:
			return i + 1
		case c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}
