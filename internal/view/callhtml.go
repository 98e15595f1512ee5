package view

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
)

// clip is how much of the telling argument a line shows.
const clip = 160

// writeCall writes a call as a line that opens.
func (p *pageWriter) writeCall(c *call) {
	m := p.m
	kind := "call"
	switch {
	case c.failed():
		kind += " failed"
	case c.result == nil:
		kind += " open"
	}
	m.open("details", class(kind), id(p.anchor(c.key)))
	m.open("summary")
	m.put("b", c.name)
	m.raw(" ")
	m.put("code", render.Clip(cutRunes(c.telling(), clip)))
	m.raw(" ")
	m.put("span", c.outcome(), class("outcome"))
	m.end("summary")
	p.writeRequest(c)
	p.writeStarted(c)
	if c.result != nil {
		p.writeResult(c)
	}
	m.end("details")
}

// told reports whether the line of a call shows its one argument completely.
func (c *call) told() bool {
	for _, v := range c.args {
		if s, ok := v.(string); !ok || s != c.telling() || len(s) > clip {
			return false
		}
	}
	return true
}

func cutRunes(s string, n int) string {
	if len(s) <= 4*n {
		return s
	}
	return s[:runeStart(s, 4*n)]
}

// writeRequest writes the arguments of a call: those that have a form of their own in it, and the
// others as JSON.
func (p *pageWriter) writeRequest(c *call) {
	all, rest := c.args.EditsBeside()
	named, file := c.args.FileNamed()
	line := c.args.Command()
	written, text := c.written()
	list, todos := c.todos()
	switch {
	case len(all) > 0:
		for _, e := range all {
			if e.File != "" {
				p.file(e.File)
			}
			long(p.m, e.Diff(), func(piece string) { writePatch(p.m, piece) })
		}
	case written != "":
		p.file(file)
		p.writeCode(language(file), text)
		rest = c.args.Without(named, written)
	case len(todos) > 0:
		p.m.writeTodos(todos)
		rest = c.args.Without(list)
	case line != "":
		p.writeCode("sh", line)
		rest = c.args.BesideCommand()
	case len(c.args) == 0 && string(c.raw) == "{}" || len(c.args) == 1 && c.told():
	default:
		rest = c.raw
	}
	if rest == nil {
		return
	}
	var b bytes.Buffer
	if json.Indent(&b, rest, "", "  ") != nil {
		b.Write(rest)
	}
	p.writeCode("json", b.String())
}

// file names a file that a call changed.
func (p *pageWriter) file(name string) {
	p.m.open("p", class("file"))
	if p.doc.File != nil && p.doc.File(name) != "" {
		p.m.put("a", name, href(p.doc.File(name)), attr{"title", "What was asked for its lines"})
	} else {
		p.m.text(name)
	}
	p.m.end("p")
}

func (m *markup) writeTodos(all []todo) {
	m.open("ul", class("todos"))
	for _, t := range all {
		m.open("li")
		m.put("span", t.mark, attr{"title", t.state})
		m.raw(" ")
		m.text(t.text)
		if t.beside != "" {
			m.raw(" ")
			m.put("code", t.beside, class("outcome"))
		}
		m.end("li")
	}
	m.end("ul")
}

// writeStarted links to the session that a call started.
func (p *pageWriter) writeStarted(c *call) {
	if c.started == "" {
		return
	}
	p.m.open("p", class("started"))
	p.m.text("Started ")
	if to := p.doc.link(c.started); to != "" {
		p.m.put("a", c.started, href(to))
	} else {
		p.m.put("code", c.started)
	}
	p.m.end("p")
}

// writeResult writes the result of a call.
func (p *pageWriter) writeResult(c *call) {
	p.m.open("div", class("result"), p.anchored(c.resultKey, c.key))
	for _, part := range c.parts {
		p.writePart(part, language(c.args.File()))
	}
	if len(c.parts) == 0 {
		p.m.put("p", "The result is empty.", class("note"))
	}
	p.m.end("div")
}

// about returns what is said beside the URI of a resource.
func about(part render.Part) string {
	return " " + strings.TrimSpace(part.Title+" "+render.Bytes(part.Size))
}

// writePart writes a content. A text without a name has the language of the requested file.
func (p *pageWriter) writePart(part render.Part, lang string) {
	m := p.m
	if part.URI != "" {
		m.open("p", class("file"))
		m.text(part.URI)
		m.put("span", about(part), class("outcome"))
		m.end("p")
	}
	switch {
	case part.Absent != "":
		m.open("p", class("absent"))
		m.text("No content: sha256:" + part.Ref.Hash.String() + ", " +
			render.Bytes(part.Ref.Size) + ": " + part.Absent)
		m.end("p")
	case part.IsImage():
		p.m.writeImage(part)
	case part.Data != nil:
		m.put("p", render.Bytes(int64(len(part.Data)))+" of binary data", class("note"))
	case part.Text != "":
		p.writeResultText(part, lang)
	}
}

func (m *markup) writeImage(part render.Part) {
	name := "An image"
	if part.URI != "" {
		name = part.URI[strings.LastIndexByte(part.URI, '/')+1:]
	}
	data := "data:" + part.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(part.Data)
	m.open("img", attr{"alt", name}, attr{"loading", "lazy"}, attr{"src", data})
}

func (p *pageWriter) writeResultText(part render.Part, lang string) {
	if part.Language != "" {
		lang = part.Language
	}
	text := strings.TrimSuffix(part.Text, "\n")
	if inner, language, ok := fencedWhole(text); ok {
		text, lang = inner, language
	}
	switch {
	case strings.Contains(text, "\x1b["):
		long(p.m, text, func(piece string) {
			p.m.open("pre", scrolls())
			writeANSI(p.m, piece)
			p.m.end("pre")
		})
	case lang == "diff", lang == "patch", strings.HasPrefix(text, "diff --git "):
		long(p.m, text, func(piece string) { writePatch(p.m, piece) })
	default:
		p.writeCode(lang, text)
	}
}

// fencedWhole returns the content of a text that is one block of code, as jp's tools return files.
func fencedWhole(text string) (inner, language string, ok bool) {
	head, rest, _ := strings.Cut(text, "\n")
	language, fenced := strings.CutPrefix(head, "```")
	rest, ended := strings.CutSuffix(strings.TrimRight(rest, "\n"), "\n```")
	if !fenced || !ended || strings.Contains(rest, "\n```") ||
		strings.ContainsAny(language, "` ") {
		return "", "", false
	}
	return rest, language, true
}

func (p *pageWriter) writeCode(lang, text string) {
	long(p.m, text, func(piece string) {
		p.m.open("pre", scrolls())
		p.code.write(p.m, lang, piece)
		p.m.end("pre")
	})
}
