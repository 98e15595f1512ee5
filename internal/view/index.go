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

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
)

//go:embed index.js
var indexScript string

// An Index is a page that lists conversations.
type Index struct {
	Title string
	// Search is the address of a server's search, "" if the page searches by itself.
	Search string
	// Rows is the address at which a server has the rows that changed since the page was made, ""
	// for none, and Next the number for the next request.
	Rows string
	Next int
	// Links lead to further pages.
	Links []Link
}

// A Link leads to a page.
type Link struct{ Name, Page string }

// Write writes the list.
func (x Index) Write(w io.Writer, all []Summary) error {
	const buffer = 64 << 10
	out := bufio.NewWriterSize(w, buffer)
	m := &markup{w: out}
	pending := pendingIn(all)
	doc := Document{}
	if pending > 0 {
		doc.again = "3"
	}
	doc.open(m, x.Title, indexScript)
	m.put("a", "Skip to the list", class("skip"), href("#main"))
	m.open("main", class("page"), id("main"))
	m.put("h1", x.Title)
	x.search(m)
	x.links(m)
	total(m, all)
	filters(m)
	x.table(m, all)
	m.end("main")
	m.raw("\n<script>" + trusted(indexScript) + "</script>\n</body></html>\n")
	return errors.Join(m.err, out.Flush())
}

// Rows are the rows of a list that changed since a page with it was made.
type Rows struct {
	Index   Index
	All     []Summary // of the list
	Changed []Summary
	Gone    []events.ID
}

// Write writes the document from which the script of the page takes the rows.
func (r Rows) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	m := &markup{w: out}
	m.raw("<!DOCTYPE html>\n<title>Rows</title>\n")
	r.Index.table(m, r.Changed)
	m.put("output", strconv.Itoa(pendingIn(r.All)), id("pending"))
	m.put("output", emptyIn(r.All), id("empty"))
	gone := lists.Map(r.Gone, rowID)
	m.put("output", strings.Join(gone, " "), id("gone"))
	return errors.Join(m.err, out.Flush())
}

func rowID(id events.ID) string { return "c" + id.Digits() }

// emptyIn names the columns that are empty in every row.
func emptyIn(all []Summary) string {
	var names []string
	for i, c := range columns() {
		if c.isEmpty(all) && pendingIn(all) == 0 {
			names = append(names, "no"+strconv.Itoa(i+1))
		}
	}
	return strings.Join(names, " ")
}

func pendingIn(all []Summary) (n int) {
	for _, s := range all {
		if s.Pending {
			n++
		}
	}
	return n
}

// search writes the search field: without a script only a server can answer.
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

func (x Index) links(m *markup) {
	if len(x.Links) == 0 {
		return
	}
	m.open("nav", class("links"), attr{"aria-label", "Other lists"})
	for _, l := range x.Links {
		m.put("a", l.Name, href(l.Page))
	}
	m.end("nav")
}

// filters writes the place where the script puts the filters.
func filters(m *markup) {
	m.open("details", class("filters"), flag("hidden"))
	m.put("summary", "Filter")
	m.open("div", id("filters"))
	m.end("div")
	m.end("details")
}

// total writes the cost of all conversations, each answer counted once.
func total(m *markup, all []Summary) {
	sum, answers := spentIn(all)
	if sum.Answers == 0 {
		return
	}
	m.open("details", class("figures"))
	so := ""
	if pendingIn(all) > 0 {
		so = " so far"
	}
	m.put("summary", "Figures"+so+": "+figuresLine(sum))
	by := days(answers)
	const most = 60
	by = by[max(len(by)-most, 0):]
	chart(m, "Tokens by day, as reported; from a cache in the paler shade", by)
	chart(m, "Tokens by model, as reported", byModel(answers))
	chart(m, "Tokens by tool whose result was answered, as reported", byTool(answers))
	m.end("details")
}

// table writes rows. Columns that are empty in every row are not shown.
func (x Index) table(m *markup, all []Summary) {
	rows, next := attr{}, attr{}
	if x.Rows != "" {
		rows, next = attr{"data-rows", x.Rows}, attr{"data-next", strconv.Itoa(x.Next)}
	}
	m.open("table", class(strings.TrimSpace("list "+emptyIn(all))), id("list"), rows, next)
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
	shown := columns()
	for _, s := range all {
		s.row(m, shown)
	}
	m.end("tbody")
	m.end("table")
}

// A column of the list: class "opt" leaves it out on a narrow screen.
type column struct {
	head, sort, class string
	cell              func(Summary) (text, value string) // it is sorted by the value
}

func (c column) isEmpty(all []Summary) bool {
	for _, s := range all {
		if c.cell == nil {
			return false
		}
		if text, _ := c.cell(s); text != "" {
			return false
		}
	}
	return true
}

func columns() []column {
	words := func(f func(Summary) string) func(Summary) (string, string) {
		return func(s Summary) (string, string) { return f(s), "" }
	}
	return []column{
		{"Conversation", "title", "what", nil},
		{"Agent", "agent", "opt", words(func(s Summary) string { return s.Agent })},
		{"Model", "model", "opt", words(Summary.model)},
		{"Author", "author", "opt", words(func(s Summary) string { return s.Author })},
		{"Branch", "branch", "opt", words(func(s Summary) string { return s.Branch })},
		{"Turns", "turns", "n", func(s Summary) (string, string) {
			if s.Pending {
				return "…", "0"
			}
			return render.Number(int64(s.Turns)), strconv.Itoa(s.Turns)
		}},
		{"Tokens", "tokens", "n opt", func(s Summary) (text, value string) {
			n := s.Spent.Input + s.Spent.Output
			if n > 0 {
				text = tokens(n)
			}
			return text, strconv.FormatInt(n, 10)
		}},
		{"Cost", "cost", "n opt", func(s Summary) (text, value string) {
			if s.Spent.USD > 0 {
				text = dollars(s.Spent.USD)
			}
			return text, fmt.Sprintf("%.4f", s.Spent.USD)
		}},
		{"Last event", "last", "n", func(s Summary) (string, string) {
			return dayOf(s.Last), strconv.FormatInt(s.Last.Unix(), 10)
		}},
	}
}

// model returns the model of the last answers, without its provider.
func (s Summary) model() string {
	_, name, _ := strings.Cut(s.Model, "/")
	return cmp.Or(name, s.Model)
}

func (s Summary) row(m *markup, shown []column) {
	doc := attr{}
	if s.Doc >= 0 {
		doc = attr{"data-doc", strconv.Itoa(s.Doc)}
	}
	m.open("tr", id(rowID(s.ID)), doc)
	for _, c := range shown {
		if c.cell == nil {
			s.what(m)
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

// what writes what a conversation is about.
func (s Summary) what(m *markup) {
	m.open("td", class("what"))
	m.put("a", s.name(), href(s.Page))
	for _, l := range s.Labels {
		m.raw(" ")
		m.put("span", l, class("label"))
	}
	begins := strings.HasPrefix(s.First, strings.TrimRight(s.Title, "… "))
	if s.Title != "" && s.First != "" && !begins {
		m.put("span", s.First, class("first"))
	}
	if s.Fork != "" {
		m.open("span", class("first"))
		m.text("from ")
		if s.OriginPage != "" {
			m.put("a", cmp.Or(s.OriginName, s.Fork), href(s.OriginPage))
		} else {
			m.text(s.Fork)
		}
		m.end("span")
	}
	if kin := s.Kin(); kin != "" {
		m.put("span", kin, class("first"))
	}
	m.end("td")
}

func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
