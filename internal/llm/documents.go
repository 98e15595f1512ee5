package llm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
)

// Documents returns text resources in the form that jp uses for models without native documents,
// with their descriptions and types: one XML text, empty for no resources. The index counts from
// first.
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
		if about := r.About(); about != "" {
			b.WriteString("    <description>" + escape(about) + "</description>\n")
		}
		if r.MIME != "" {
			b.WriteString("    <type>" + escape(r.MIME) + "</type>\n")
		}
		b.WriteString("    <content>" + content(r.Text, cdata) + "</content>\n  </document>\n")
	}
	b.WriteString("</documents>")
	return b.String()
}

// content encodes a text so that it stays readable: a model must be able to quote it exactly.
func content(text string, cdata bool) string {
	if !cdata {
		return text
	}
	return "<![CDATA[" + strings.ReplaceAll(text, "]]>", "]]]]><![CDATA[>") + "]]>"
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// About returns what a model is given about a resource after its URI: its title, unless the URI
// ends with that, and its description. The URI comes first because tools and references name the
// resource by it.
func (r Resource) About() string {
	title := r.Title
	if strings.HasSuffix(r.URI, title) {
		title = ""
	}
	if title != "" && r.Description != "" {
		title += ": "
	}
	return title + r.Description
}

// IsImage reports whether a MIME type is an image for models; SVG is text.
func IsImage(mime string) bool {
	return strings.HasPrefix(mime, "image/") && mime != "image/svg+xml"
}

// IsPDF reports whether a MIME type is PDF.
func IsPDF(mime string) bool { return mime == "application/pdf" }

// Plain returns the result as text, for providers that accept only text in results: a blank line
// between parts, before a resource a line that names it as references do, and a placeholder for
// binary content.
func (r Result) Plain() string {
	texts := lists.Map(r.Parts, plainPart)
	return strings.Join(texts, "\n\n")
}

func plainPart(p Part) string {
	switch p := p.(type) {
	case Text:
		return p.Text
	case Resource:
		switch {
		case p.Bytes != nil:
			return p.head(size(p.MIME, len(p.Bytes)))
		case p.URI == "":
			return p.Text
		}
		return p.head(p.MIME) + "\n" + p.Text
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

// head returns the line that names a resource of a result.
func (r Resource) head(kind string) string {
	head := "[resource"
	if r.URI != "" {
		head += " " + r.URI
	}
	if about := r.About(); about != "" {
		head += ", " + about
	}
	if kind != "" {
		head += " (" + kind + ")"
	}
	return head + "]"
}

func size(mime string, n int) string {
	s := strconv.Itoa(n) + " bytes"
	if mime != "" {
		s = mime + ", " + s
	}
	return s
}

// A File is a part that a provider accepts as a file, not as text.
type File struct {
	Name  string // the URI of a resource, "" of media
	About string
	MIME  string
	Bytes []byte // nil for a part that is text
}

// FileOf returns a part as a file.
func FileOf(p Part) File {
	switch p := p.(type) {
	case Media:
		return File{MIME: p.MIME, Bytes: p.Bytes}
	case Resource:
		return File{p.URI, p.About(), p.MIME, p.Bytes}
	default:
		return File{}
	}
}

// Label returns the line before a file, by which the model identifies the file when references name
// it; "" if the file has no name.
func (f File) Label() string {
	switch {
	case f.Name == "":
		return ""
	case f.About == "":
		return "[Attached file: " + f.Name + "]"
	default:
		return "[Attached file: " + f.Name + ", " + f.About + "]"
	}
}
