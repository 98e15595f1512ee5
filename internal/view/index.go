package view

import (
	"bufio"
	"cmp"
	_ "embed" // the script of the list
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

//go:embed index.js
var indexScript string

// A Summary is what a list says of a conversation.
type Summary struct {
	ID     events.ID
	Page   string // where it is
	Title  string
	First  string // words of the first prompt
	Agent  string // the agent whose session it was, "" for jp's own
	Model  string
	Author string // of the commit that added it, else of the first prompt
	Branch string
	Fork   string // what it was forked from or started by, "" for nothing
	Turns  int
	Input  int64 // tokens as reported
	Output int64
	USD    float64
	Last   time.Time // of its last event
	Doc    int       // its number in the search index, -1 where there is none
}

// Summarize returns what a list says of a conversation.
func (d Document) Summarize(conv *workspace.Conversation) Summary {
	outline := render.OutlineOf(conv.Stream, conv.BaseConfig, 0)
	_, last := times(conv.Stream)
	labels := conv.Details.Labels
	s := Summary{
		ID: conv.ID, Title: conv.Title(), First: outline.First, Model: outline.Model,
		Turns: outline.Turns, Last: last, Doc: -1,
		Branch: labels[sessions.LabelBranch], Fork: labels[sessions.LabelParent],
	}
	session := cmp.Or(labels[sessions.LabelSession], labels[sessions.LabelOf])
	if n, ok := sessions.ParseName(session); ok {
		s.Agent = string(n.Agent)
	}
	if o := workspace.OriginOf(conv.Details); o != nil {
		s.Fork = o.String()
	}
	p := &pageWriter{doc: d, model: outline.Model}
	for _, e := range conv.Stream.All() {
		if r, ok := e.Event().(*events.ChatRequest); ok && s.Author == "" {
			s.Author = r.Author
		}
		u, ok := compact.UsageOf(e)
		if !ok {
			continue
		}
		s.Input += u.Prompt()
		s.Output += u.Output
		s.USD += p.priceOf(e, u).usd
	}
	return s
}

// name is the title, or what stands for it.
func (s Summary) name() string {
	if s.Title == "" && s.First != "" {
		return "“" + s.First + "”"
	}
	return cmp.Or(s.Title, s.ID.String())
}

// An Index is a page that lists conversations.
type Index struct {
	Title string
	// Search is where a search of a server is, "" where the page searches by itself.
	Search string
	// Local says that the search of the page is in files beside it.
	Local bool
}

// Write writes the list.
func (x Index) Write(w io.Writer, all []Summary) error {
	const buffer = 64 << 10
	out := bufio.NewWriterSize(w, buffer)
	m := &markup{w: out}
	Document{}.open(m, x.Title, indexScript)
	m.put("a", "Skip to the list", class("skip"), href("#main"))
	m.open("main", class("page"), id("main"))
	m.put("h1", x.Title)
	x.search(m)
	m.open("table", class("list"), id("list"))
	m.put("caption", render.Count(len(all), "conversation"), id("count"))
	m.open("thead")
	m.open("tr")
	shown, pages := columnsOf(all), make(map[string]string, len(all))
	for _, s := range all {
		pages[s.ID.String()] = s.Page
	}
	for _, c := range shown {
		m.open("th", attr{"scope", "col"}, class(c.class), attr{"data-sort", c.sort})
		m.text(c.head)
		m.end("th")
	}
	m.end("tr")
	m.end("thead")
	m.raw("\n")
	m.open("tbody")
	for _, s := range all {
		s.row(m, shown, pages)
	}
	m.end("tbody")
	m.end("table")
	m.end("main")
	m.raw("\n<script>" + trusted(indexScript) + "</script>\n</body></html>\n")
	return errors.Join(m.err, out.Flush())
}

// search writes where words are typed: without a script only a server can answer.
func (x Index) search(m *markup) {
	if x.Search != "" {
		m.open("form", class("search"), attr{"role", "search"}, attr{"action", x.Search})
		m.open("input", attr{"type", "search"}, attr{"name", "q"}, id("words"),
			attr{"aria-label", "Search in all conversations"}, attr{"placeholder", "Search (/)"})
		m.put("button", "Search")
		m.end("form")
		return
	}
	m.open("p", class("search"), flag("hidden"), id("searching"))
	m.open("input", attr{"type", "search"}, id("words"),
		attr{"aria-label", "Search in all conversations"}, attr{"placeholder", "Search (/)"})
	m.put("output", "", id("found"), attr{"for", "words"})
	m.end("p")
	m.open("div", class("page-hits"), id("hits"), attr{"aria-live", "polite"})
	m.end("div")
}

// A column of the list: class "opt" leaves it out on a narrow screen.
type column struct {
	head, sort, class string
	cell              func(Summary) (text, value string) // by the value it is sorted
}

func columns() []column {
	words := func(f func(Summary) string) func(Summary) (string, string) {
		return func(s Summary) (string, string) { return f(s), "" }
	}
	return []column{
		{"Conversation", "title", "what", nil},
		{"Model", "model", "opt", words(Summary.model)},
		{"Author", "author", "opt", words(func(s Summary) string { return s.Author })},
		{"Branch", "branch", "opt", words(func(s Summary) string { return s.Branch })},
		{"Turns", "turns", "n", func(s Summary) (string, string) {
			return render.Number(int64(s.Turns)), strconv.Itoa(s.Turns)
		}},
		{"Tokens", "tokens", "n opt", func(s Summary) (text, value string) {
			if n := s.Input + s.Output; n > 0 {
				text = tokens(n)
			}
			return text, strconv.FormatInt(s.Input+s.Output, 10)
		}},
		{"Cost", "cost", "n opt", func(s Summary) (text, value string) {
			if s.USD > 0 {
				text = dollars(s.USD)
			}
			return text, fmt.Sprintf("%f", s.USD)
		}},
		{"Last event", "last", "n", func(s Summary) (string, string) {
			return dayOf(s.Last), strconv.FormatInt(s.Last.Unix(), 10)
		}},
	}
}

// columnsOf returns the columns in which a conversation has something.
func columnsOf(all []Summary) []column {
	return slices.DeleteFunc(columns(), func(c column) bool {
		return c.cell != nil && !slices.ContainsFunc(all, func(s Summary) bool {
			text, _ := c.cell(s)
			return text != ""
		})
	})
}

// model is that of the last answers, behind the agent that had it.
func (s Summary) model() string {
	model := s.Model
	if _, name, ok := strings.Cut(model, "/"); ok {
		model = name
	}
	if s.Agent != "" {
		model = strings.TrimSuffix(s.Agent+", "+model, ", ")
	}
	return model
}

func (s Summary) row(m *markup, shown []column, pages map[string]string) {
	doc := attr{}
	if s.Doc >= 0 {
		doc = attr{"data-doc", strconv.Itoa(s.Doc)}
	}
	m.open("tr", doc)
	for _, c := range shown {
		if c.cell == nil {
			s.what(m, pages)
			continue
		}
		text, value := c.cell(s)
		sorted := attr{}
		if value != "" {
			sorted = attr{"data-v", value}
		}
		m.put("td", text, class(c.class), sorted)
	}
	m.end("tr")
	m.raw("\n")
}

// what writes what a conversation is about. What it was forked from may have a page.
func (s Summary) what(m *markup, pages map[string]string) {
	m.open("td", class("what"))
	m.put("a", s.name(), href(s.Page))
	if s.Title != "" && s.First != "" && s.Title != s.First {
		m.put("span", s.First, class("first"))
	}
	if s.Fork != "" {
		m.open("span", class("first"))
		m.text("from ")
		if origin, _, _ := strings.Cut(s.Fork, ","); pages[origin] != "" {
			m.put("a", s.Fork, href(pages[origin]))
		} else {
			m.text(s.Fork)
		}
		m.end("span")
	}
	m.end("td")
}

func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
