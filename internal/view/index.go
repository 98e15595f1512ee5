package view

import (
	"bufio"
	"cmp"
	_ "embed" // the script of the list
	"errors"
	"fmt"
	"io"
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
	for _, c := range columns() {
		m.open("th", attr{"scope", "col"}, class(c.class), attr{"data-sort", c.sort})
		m.text(c.head)
		m.end("th")
	}
	m.end("tr")
	m.end("thead")
	m.raw("\n")
	m.open("tbody")
	for _, s := range all {
		x.row(m, s)
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
}

func columns() []column {
	return []column{
		{"Conversation", "title", "what"},
		{"Model", "model", "opt"},
		{"Author", "author", "opt"},
		{"Branch", "branch", "opt"},
		{"Turns", "turns", "n"},
		{"Tokens", "tokens", "n opt"},
		{"Cost", "cost", "n opt"},
		{"Last event", "last", "n"},
	}
}

func (x Index) row(m *markup, s Summary) {
	doc := attr{}
	if s.Doc >= 0 {
		doc = attr{"data-doc", strconv.Itoa(s.Doc)}
	}
	m.open("tr", doc)
	m.open("td", class("what"))
	m.put("a", s.name(), href(s.Page))
	if s.Title != "" && s.First != "" {
		m.put("span", s.First, class("first"))
	}
	if s.Fork != "" {
		m.put("span", "from "+s.Fork, class("first"))
	}
	m.end("td")
	model := s.Model
	if _, name, ok := strings.Cut(model, "/"); ok {
		model = name
	}
	if s.Agent != "" {
		model = strings.TrimSuffix(s.Agent+", "+model, ", ")
	}
	m.put("td", model, class("opt"))
	m.put("td", s.Author, class("opt"))
	m.put("td", s.Branch, class("opt"))
	number := func(v, text, classes string) {
		m.put("td", text, class(classes), attr{"data-v", v})
	}
	number(strconv.Itoa(s.Turns), render.Number(int64(s.Turns)), "n")
	used, cost := "", ""
	if s.Input+s.Output > 0 {
		used = tokens(s.Input + s.Output)
	}
	if s.USD > 0 {
		cost = dollars(s.USD)
	}
	number(strconv.FormatInt(s.Input+s.Output, 10), used, "n opt")
	number(fmt.Sprintf("%f", s.USD), cost, "n opt")
	number(strconv.FormatInt(s.Last.Unix(), 10), dayOf(s.Last), "n")
	m.end("tr")
	m.raw("\n")
}

func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
