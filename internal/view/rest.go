package view

import (
	"bytes"
	"fmt"
	"io"

	"github.com/git-jp/git-jp/events"
)

// mostRest is how many bytes of long texts after their beginnings a page has, if it may leave the
// rest to another page.
const mostRest = 500_000

// A Rest is a page beside that of a conversation, with long texts that the other one has no room
// for.
type Rest struct {
	of, page string // the names of both

	left int // bytes that the page of the conversation may still have
	n    int
	body bytes.Buffer
}

// NewRest returns an empty one.
func NewRest(id events.ID) *Rest {
	return &Rest{of: id.Digits() + ".html", page: RestPage(id.Digits()), left: mostRest}
}

// RestPage returns the name of the page beside that of a conversation.
func RestPage(digits string) string { return digits + "-rest.html" }

// IsEmpty reports whether the page of the conversation has everything.
func (r *Rest) IsEmpty() bool { return r.n == 0 }

// Write writes the page; home is the address of the index.
func (r *Rest) Write(w io.Writer, home, title string) error {
	return plain(w, home, title, func(m *markup) {
		m.put("p", "The rest of long texts, for which the page of the conversation has no room.")
		m.raw(trusted(r.body.String())) // made by a markup
	})
}

// hasRoom reports whether the page may have so many more bytes of long texts.
func (m *markup) hasRoom(size int) bool { return m.beside == nil || size <= m.beside.left }

// rest writes size bytes after the beginning of a text: closed, or on the page beside.
func (m *markup) rest(summary string, size int, f func()) {
	if !m.hasRoom(size) {
		m.leave(summary, f)
		return
	}
	if m.beside != nil {
		m.beside.left -= size
	}
	m.open("details", class("rest"))
	m.put("summary", summary)
	f()
	m.end("details")
}

// leave writes a link, and the output of f to the page beside.
func (m *markup) leave(summary string, f func()) {
	r := m.beside
	r.n++
	at := fmt.Sprintf("r%d", r.n)
	m.open("p", class("rest"), id(at))
	m.put("a", summary, href(r.page+"#"+at))
	m.end("p")
	page := m.w
	m.w = &r.body
	m.open("section", class("span"), id(at))
	m.open("p", class("facts"))
	m.put("a", "To where it belongs", href(r.of+"#"+at))
	m.end("p")
	f()
	m.end("section")
	m.w = page
}
