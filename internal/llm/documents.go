package llm

import (
	"fmt"
	"strconv"
	"strings"
)

// Documents returns text resources as jp shows them to models that have no documents of their
// own: one XML text, empty when there is no resource. The index counts all of them from first.
func Documents(rs []Resource, first int) string {
	if len(rs) == 0 {
		return ""
	}
	cdata := false
	for _, r := range rs {
		cdata = cdata || strings.ContainsAny(r.Text, "<>")
	}
	var b strings.Builder
	b.WriteString("<documents>\n")
	for i, r := range rs {
		b.WriteString("  <document>\n    <index>" + strconv.Itoa(first+i) + "</index>\n")
		b.WriteString("    <source>" + escape(r.URI) + "</source>\n")
		b.WriteString("    <content>" + content(r.Text, cdata) + "</content>\n  </document>\n")
	}
	b.WriteString("</documents>")
	return b.String()
}

// content keeps what is inside readable: a model is to quote it as it stands.
func content(text string, cdata bool) string {
	if !cdata {
		return text
	}
	return "<![CDATA[" + strings.ReplaceAll(text, "]]>", "]]]]><![CDATA[>") + "]]>"
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// FileLabel returns the line that stands before a file that is no text, so that the model can
// tell several apart.
func FileLabel(name string) string { return "[Attached file: " + name + "]" }

// IsImage reports whether a MIME type is of an image that models look at; SVG is text.
func IsImage(mime string) bool {
	return strings.HasPrefix(mime, "image/") && mime != "image/svg+xml"
}

// IsPDF reports whether a MIME type is of a PDF.
func IsPDF(mime string) bool { return mime == "application/pdf" }

// Plain returns the result as text, for providers that take nothing else, in the words of
// [events.ToolCallResponse.Text]: a blank line between parts, a placeholder for what is no text.
func (r Result) Plain() string {
	texts := make([]string, len(r.Parts))
	for i, p := range r.Parts {
		texts[i] = plainPart(p)
	}
	return strings.Join(texts, "\n\n")
}

func plainPart(p Part) string {
	switch p := p.(type) {
	case Text:
		return p.Text
	case Resource:
		if p.Bytes == nil {
			return p.Text
		}
		return fmt.Sprintf("[resource %s (%s)]", p.URI, size(p.MIME, len(p.Bytes)))
	case Media:
		kind, _, _ := strings.Cut(p.MIME, "/")
		if kind != "image" && kind != "audio" {
			kind = "resource"
		}
		return fmt.Sprintf("[%s (%s)]", kind, size(p.MIME, len(p.Bytes)))
	default:
		return ""
	}
}

func size(mime string, n int) string {
	s := strconv.Itoa(n) + " bytes"
	if mime != "" {
		s = mime + ", " + s
	}
	return s
}

// Attached takes a part that is shown as a file apart: a name for it, its MIME type and its
// bytes, which are nil for a part that is text.
func Attached(p Part) (name, mime string, data []byte) {
	switch p := p.(type) {
	case Media:
		return p.Name, p.MIME, p.Bytes
	case Resource:
		if p.Title != "" {
			return p.Title, p.MIME, p.Bytes
		}
		return p.URI, p.MIME, p.Bytes
	default:
		return "", "", nil
	}
}
