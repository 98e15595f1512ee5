package view

import (
	"bytes"
	"fmt"
	"io"

	"github.com/git-jp/git-jp/events"
)

// mostRest is how much a page holds of long texts behind their beginnings, where it may leave the
// rest to another page.
const mostRest = 500_000

// A Rest is a page beside that of a conversation, with what that one has no room for of long
// texts.
type Rest struct {
	of, page string // the names of both

	left int // of what the page of the conversation may hold
	n    int
	body bytes.Buffer
}

// NewRest returns an empty one.
func NewRest(id events.ID) *Rest {
	return &Rest{of: id.Digits() + ".html", page: RestPage(id.Digits()), left: mostRest}
}

// RestPage is the name of the page beside that of a conversation.
func RestPage(digits string) string { return digits + "-rest.html" }

// IsEmpty reports whether the page of the conversation has everything.
func (r *Rest) IsEmpty() bool { return r.n == 0 }

// Write writes the page, home being where the index is.
func (r *Rest) Write(w io.Writer, home, title string) error {
	return plain(w, home, title, func(m *markup) {
		m.put("p", "The rest of long texts, for which the page of the conversation has no room.")
		m.raw(trusted(r.body.String())) // made by a markup
	})
}

// hasRoom reports whether the page may hold so many bytes more of the rest of long texts.
func (m *markup) hasRoom(size int) bool { return m.beside == nil || size <= m.beside.left }

// rest writes what is behind the beginning of a text, so many bytes: closed, or on the page beside.
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

// leave writes a link, and what f writes to the page beside.
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
