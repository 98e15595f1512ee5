package view

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/git-jp/git-jp/internal/render"
)

// A Hit is a place where words were found.
type Hit struct {
	Title, Page string // of the conversation
	Key         string // of the event
	Turn        int    // counted from 1
	Scope, Text string
}

// Hits is a page with search results.
type Hits struct {
	Words string
	All   []Hit
	Cut   bool // there is more
}

// Write writes the page.
func (h Hits) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	m := &markup{w: out}
	Document{Home: "./"}.open(m, "Search: "+h.Words, indexScript)
	m.open("main", class("page"), id("main"))
	m.put("h1", "Search")
	m.open("form", class("search"), attr{"role", "search"}, attr{"action", "search"})
	m.open("input", attr{"type", "search"}, attr{"name", "q"}, id("words"),
		attr{"aria-label", "Search in all conversations"}, attr{"value", h.Words})
	m.put("button", "Search")
	m.end("form")
	said := render.Count(len(h.All), "place")
	if h.Cut {
		said = "The first " + said
	}
	m.open("p", class("facts"))
	m.text(said + ". ")
	m.put("a", "All conversations", href("./"))
	m.end("p")
	m.open("ul", class("hits"))
	for _, hit := range h.All {
		m.open("li")
		m.put("a", fmt.Sprintf("%s, turn %d", hit.Title, hit.Turn),
			href(hit.Page+"?q="+url.QueryEscape(h.Words)+"#e-"+url.PathEscape(hit.Key)))
		m.put("p", hit.Scope+": "+hit.Text)
		m.end("li")
	}
	m.end("ul")
	m.end("main")
	m.raw("</body></html>\n")
	return errors.Join(m.err, out.Flush())
}
