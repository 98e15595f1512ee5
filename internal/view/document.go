package view

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the style sheet and the script
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/render"
)

//go:embed view.css
var style string

//go:embed view.js
var script string

// A Conversation is the input of a page.
type Conversation struct {
	render.Conversation

	Facts []Fact // beside its title, in their order
	// Only chooses turns, counted from 1; nil is all of them.
	Only func(turn int) bool
	// Left has the turns from which the person went back.
	Left []Left
}

// A Fact is something known about a conversation.
type Fact struct {
	Name, Value string
	Of          string // the conversation that it is about, if that is another one
}

// A Document is one page.
type Document struct {
	Title string // of a page with several conversations
	// Focused leaves out everything between a prompt and the last answer to it.
	Focused bool
	// Link returns the page of an agent's session or of a conversation, by its name or its id; ""
	// if there is none.
	Link func(name string) string
	// Prices are the prices of answers; without them only tokens are counted.
	Prices *models.Table
	// File returns the page of a file that a call changed; "" if there is none.
	File func(name string) string
	// Rest takes the text that a page of one conversation has no room for; with nil the page has
	// everything.
	Rest *Rest
	// Home is the address of the index, "" without one.
	Home string
	// Live makes the page follow a conversation that grows.
	Live bool

	again string // after how many seconds the page reloads without a script
}

// Write writes a page with all conversations, which needs no other file. The problems are contents
// that are absent.
func (d Document) Write(w io.Writer, all ...Conversation) ([]render.Problem, error) {
	const buffer = 64 << 10
	out := bufio.NewWriterSize(w, buffer)
	m := &markup{w: out, beside: d.Rest}
	var problems []render.Problem
	title := d.Title
	if len(all) == 1 {
		title = TitleOf(all[0])
	}
	d.open(m, title, script)
	m.put("a", "Skip to the conversation", class("skip"), href("#main"))
	d.bar(m)
	m.open("main", id("main"))
	if len(all) != 1 {
		d.contents(m, title, all)
	}
	code := &budget{left: mostCode}
	for _, c := range all {
		p := &pageWriter{m: m, doc: d, conv: c, code: code, level: 1, keys: c.Stream.Keys()}
		if len(all) != 1 {
			p.level, p.prefix = 2, c.ID.Digits()+"-"
		}
		found, err := p.write()
		problems = append(problems, found...)
		if err != nil {
			return problems, err
		}
	}
	m.end("main")
	d.foot(m)
	return problems, errors.Join(m.err, out.Flush())
}

// Permalink returns the address of an event in a folder of pages, and below the address of a
// server.
func Permalink(id events.ID, key string) string {
	return id.Digits() + ".html#e-" + url.PathEscape(key)
}

// Revision changes when the same conversation would give another page.
func Revision() string {
	const form = "7" // of what Go writes
	sum := sha256.Sum256([]byte(form + style + script + indexScript))
	return hex.EncodeToString(sum[:8])
}

// TitleOf returns the title, or its replacement.
func TitleOf(c Conversation) string {
	switch first := render.OutlineOf(c.Stream, nil, 0).First; {
	case c.Title != "":
		return render.Typed(c.Title)
	case first != "":
		return "“" + first + "”"
	default:
		return c.ID.String()
	}
}

// policy forbids everything but the style and the script of this package, pictures in the page, and
// files beside the page, if there are any.
func policy(script string, beside bool) string {
	self, ours := "'none'", ""
	if beside {
		self, ours = "'self'", " 'self'"
	}
	return "default-src 'none'; style-src " + digest(style) +
		"; script-src " + digest(script) + ours + "; img-src data:" + ours +
		"; connect-src " + self + "; form-action " + self + "; base-uri 'none'"
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// open begins a page up to its body.
func (d Document) open(m *markup, title, script string) {
	m.raw("<!DOCTYPE html>\n")
	live := attr{}
	if d.Live {
		live = flag("data-live")
	}
	m.open("html", attr{"lang", "en"}, live)
	m.open("head")
	m.open("meta", attr{"charset", "utf-8"})
	m.open("meta", attr{"http-equiv", "Content-Security-Policy"},
		attr{"content", policy(script, script == indexScript || d.Home != "")})
	m.open("meta", attr{"name", "viewport"}, attr{"content", "width=device-width, initial-scale=1"})
	m.open("meta", attr{"name", "color-scheme"}, attr{"content", "light dark"})
	m.open("meta", attr{"name", "referrer"}, attr{"content", "no-referrer"})
	if d.again != "" {
		m.open("noscript")
		m.open("meta", attr{"http-equiv", "refresh"}, attr{"content", d.again})
		m.end("noscript")
	}
	m.open("link", attr{"rel", "icon"}, href("data:,")) // else browsers request one elsewhere
	m.put("title", title)
	m.raw("<style>" + trusted(style) + "</style>")
	m.end("head")
	m.raw("\n<body>\n")
}

// bar writes the reader's choices. Kinds are switched without a script; the rest appears if one
// runs.
func (d Document) bar(m *markup) {
	m.open("div", class("bar"), attr{"role", "region"}, attr{"aria-label", "View"})
	if d.Home != "" {
		m.put("a", "All conversations", class("home"), href(d.Home))
	}
	m.open("span", class("scripted"), flag("hidden"))
	if !d.Focused {
		m.put("button", "Full", id("full"), attr{"aria-pressed", "false"},
			attr{"title", "Open what is between prompts and answers (f)"})
	}
	m.open("input", id("find"), attr{"type", "search"}, attr{"placeholder", "Find (/)"},
		attr{"aria-label", "Find in this page"})
	m.put("output", "", id("found"), attr{"for", "find"})
	m.end("span")
	if !d.Focused {
		for _, k := range []struct{ id, label string }{
			{"reasoning", "Reasoning"}, {"calls", "Calls"}, {"notes", "Notes"},
		} {
			m.open("label")
			m.open("input", attr{"type", "checkbox"}, id("show-"+k.id), flag("checked"))
			m.text(k.label)
			m.end("label")
		}
	}
	m.open("span", class("scripted"), flag("hidden"))
	m.put("button", "?", id("keys"), attr{"aria-label", "Keys"}, attr{"title", "Keys (?)"})
	m.end("span")
	m.end("div")
	m.raw("\n")
}

// contents writes the head of a page with several conversations.
func (d Document) contents(m *markup, title string, all []Conversation) {
	m.open("header", class("top"))
	m.put("h1", title)
	m.open("ul", class("contents"))
	for _, c := range all {
		m.open("li")
		m.put("a", TitleOf(c), href("#"+c.ID.Digits()))
		m.end("li")
	}
	m.end("ul")
	m.end("header")
}

func (d Document) foot(m *markup) {
	m.open("dialog", id("help"), attr{"aria-labelledby", "help-title"})
	m.put("h2", "Keys", id("help-title"))
	m.open("dl")
	for _, k := range [][2]string{
		{"j, k", "next and previous prompt"},
		{"f", "full, or prompts and answers"},
		{"e", "open or close all calls"},
		{"/", "find in this page"},
		{"n, p", "next and previous match"},
		{"c", "copy a link to this turn"},
		{"?", "these keys"},
		{"Esc", "close, or leave the search"},
	} {
		m.put("dt", k[0])
		m.put("dd", k[1])
	}
	m.end("dl")
	m.open("form", attr{"method", "dialog"})
	m.put("button", "Close")
	m.end("form")
	m.end("dialog")
	m.raw("\n<script>" + trusted(script) + "</script>\n</body></html>\n")
}

// moment returns a time for people, in UTC: documents are read anywhere.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// sentence begins a text with a capital letter.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
