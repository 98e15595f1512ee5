package view

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/render"
)

// A Commit is one that changed conversations, or that lines come from.
type Commit struct {
	ID, Author, Subject string
	At                  time.Time
	Page                string // where a span links to, "" for nowhere
}

// CommitPage returns the page of a server or a folder with the turns that a commit added.
func CommitPage(id string) string { return "commit-" + id + ".html" }

// FilePage returns the page of a server with the questions behind the lines of a file.
func FilePage(file string) string { return "file?path=" + url.QueryEscape(file) }

// WriteCommits writes a page that lists commits; home is the address of the index.
func WriteCommits(w io.Writer, home string, all []Commit) error {
	return plain(w, home, "Commits", func(m *markup) {
		m.put("p", "Commits that changed conversations, with the turns that each of them added.")
		m.open("table", class("list"))
		m.put("caption", render.Count(len(all), "commit"))
		m.open("thead")
		m.open("tr")
		for _, head := range []string{"Commit", "Subject", "Author", "Day"} {
			m.put("th", head, attr{"scope", "col"})
		}
		m.end("tr")
		m.end("thead")
		m.open("tbody")
		for _, c := range all {
			m.open("tr")
			m.open("td")
			m.put("a", cutRunes(c.ID, 3), href(CommitPage(c.ID)))
			m.end("td")
			m.put("td", c.Subject)
			m.put("td", c.Author)
			m.put("td", dayOf(c.At))
			m.end("tr")
		}
		m.end("tbody")
		m.end("table")
	})
}

// WriteProblem writes a page that explains why there is no other page.
func WriteProblem(w io.Writer, home, title, words string) error {
	return plain(w, home, title, func(m *markup) { m.put("p", words) })
}

// WriteCommit writes a page that links to the turns that a commit added: the first of them, and how
// many more there are.
func WriteCommit(w io.Writer, home string, c Commit, first []Origin, more int) error {
	return plain(w, home, c.Subject, func(m *markup) {
		m.put("p", "Commit "+c.ID+", "+c.Author+", "+dayOf(c.At)+". The turns that it added:")
		m.open("ul", class("hits"))
		for _, t := range first {
			t.write(m, "")
		}
		if more > 0 {
			m.put("li", "and "+render.Number(int64(more))+" more")
		}
		m.end("ul")
	})
}

// plain writes a page without a conversation.
func plain(w io.Writer, home, title string, write func(*markup)) error {
	out := bufio.NewWriter(w)
	m := &markup{w: out}
	Document{Home: home}.open(m, title, indexScript)
	m.open("main", class("page"), id("main"))
	m.put("h1", title)
	m.open("p", class("facts"))
	m.put("a", "All conversations", href(home))
	m.end("p")
	write(m)
	m.end("main")
	m.raw("</body></html>\n")
	return errors.Join(m.err, out.Flush())
}

// A Span is lines of a file that come from one commit, with the turns behind them.
type Span struct {
	From   int
	Lines  []string
	Commit Commit // its ID is "" if no commit has them
	Cut    bool   // the local history begins with the commit
	Turns  []Origin
}

// An Origin is a turn that lines come from.
type Origin struct {
	Title, Page    string // Page is "" if there is none
	Prompt, Author string
	Number         int // counted from 1
	At             time.Time
	// Recorded says that the commit of the lines added the turn. Otherwise it is inferred from the
	// lines that its calls wrote, whose number is Wrote.
	Recorded bool
	Wrote    int
}

// WriteLines writes a page with the lines of a file and the turns that they come from; home is the
// address of the index.
func WriteLines(w io.Writer, home, file string, all []Span) error {
	return plain(w, home, file, func(m *markup) {
		m.put("p", "What was asked when lines came about: recorded by the commit that has "+
			"both, or inferred from a call that wrote the same line.")
		for _, s := range all {
			s.write(m, language(file))
		}
	})
}

func (s Span) write(m *markup, lang string) {
	m.open("section", class("span"), id(fmt.Sprintf("L%d", s.From)))
	m.open("h2")
	m.text(fmt.Sprintf("Lines %d to %d", s.From, s.From+len(s.Lines)-1))
	m.end("h2")
	m.open("p", class("facts"))
	if s.Commit.ID == "" {
		m.text("Not committed")
	} else if s.Cut {
		m.text("In or before " + cutRunes(s.Commit.ID, 3) +
			", with which the history that is here begins")
	} else {
		if id := cutRunes(s.Commit.ID, 3); s.Commit.Page != "" {
			m.put("a", id, href(s.Commit.Page))
		} else {
			m.text(id)
		}
		m.text(" " + s.Commit.Author + ", " + dayOf(s.Commit.At) + ": " + s.Commit.Subject)
	}
	m.end("p")
	const most = 3 // turns that wrote none of the lines
	m.open("ul", class("hits"))
	for i, t := range s.Turns {
		if t.Wrote == 0 && i >= most {
			m.put("li", fmt.Sprintf("and %d more of this commit", len(s.Turns)-i))
			break
		}
		t.write(m, t.sure())
	}
	if len(s.Turns) == 0 {
		m.put("li", "No turn is known.")
	}
	m.end("ul")
	code := &budget{left: mostCode}
	long(m, strings.Join(s.Lines, "\n"), func(piece string) {
		m.open("pre", scrolls())
		code.write(m, lang, piece)
		m.end("pre")
	})
	m.end("section")
}

// sure says how it is known that lines come from a turn.
func (t Origin) sure() string {
	sure := "inferred"
	if t.Recorded {
		sure = "recorded"
	}
	if t.Wrote > 0 {
		sure += ", wrote " + render.Count(t.Wrote, "line")
	}
	return sure
}

func (t Origin) write(m *markup, label string) {
	m.open("li")
	if name := fmt.Sprintf("%s, turn %d", t.Title, t.Number); t.Page != "" {
		m.put("a", name, href(t.Page))
	} else {
		m.text(name)
	}
	m.text(", " + cmp.Or(t.Author, "User") + ", " + dayOf(t.At) + " ")
	if label != "" {
		m.put("span", label, class("label"))
	}
	m.put("p", render.Clip(t.Prompt))
	m.end("li")
}
