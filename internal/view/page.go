package view

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stats"
)

// A pageWriter writes one conversation. It collects the elements of a turn, and writes them when
// the next one begins: whether a message is the answer depends on what comes after it.
type pageWriter struct {
	m      *markup
	doc    Document
	conv   Conversation
	code   *budget
	level  int    // of the heading with the title
	prefix string // of anchors, where a page has several conversations
	keys   []string
	prose  *prose
	model  string // the last one

	spending map[int]stats.Answer // by their last element

	turn  *render.Turn
	items []render.Item
}

func (p *pageWriter) write() ([]render.Problem, error) {
	p.prose = newProse(p.level+1, p.code)
	p.model = render.OutlineOf(p.conv.Stream, p.conv.Base, 0).Model
	p.reckon()
	m := p.m
	m.open("article", id(p.conv.ID.Digits()), class("conversation"))
	m.open("header", class("top"))
	m.put(heading(p.level), TitleOf(p.conv))
	p.facts()
	m.end("header")
	p.outline()
	m.open("div", class("main"))
	if len(p.conv.Stream.Turns()) == 0 {
		m.put("p", "Nothing was asked.", class("note"))
	}
	p.left()
	p.figures()
	problems, err := p.conv.Visit(p)
	p.flush()
	m.end("div")
	m.end("article")
	m.raw("\n")
	if err == nil {
		err = m.err
	}
	return problems, err
}

func heading(level int) name { return [...]name{"h1", "h2", "h3", "h4", "h5", "h6"}[level-1] }

// facts writes what is known besides the title.
func (p *pageWriter) facts() {
	s := p.conv.Stream
	facts := append([]Fact{{Name: "Id", Value: p.conv.ID.String()}}, p.conv.Facts...)
	facts = append(facts, Fact{Name: "Turns", Value: render.Number(int64(len(s.Turns())))})
	if p.model != "" {
		facts = append(facts, Fact{Name: "Model", Value: p.model})
	}
	p.m.open("dl", class("facts"))
	for _, f := range facts {
		p.m.open("div")
		p.m.put("dt", f.Name)
		p.m.open("dd")
		to, ok := outside(f.Value)
		if f.Of != "" {
			if page := p.doc.link(f.Of); page != "" {
				to, ok = []attr{href(page)}, true
			}
		}
		if ok {
			p.m.put("a", f.Value, to...)
		} else {
			p.m.text(f.Value)
		}
		p.m.end("dd")
		p.m.end("div")
	}
	p.m.end("dl")
}

// outline lists the prompts.
func (p *pageWriter) outline() {
	s := p.conv.Stream
	m := p.m
	if len(s.Turns()) == 0 {
		return
	}
	m.open("nav", class("outline"), attr{"aria-label", "Prompts"})
	m.open("details", flag("open"))
	m.put("summary", "Prompts")
	m.open("ol")
	for _, t := range s.Turns() {
		if !p.shows(t.Index + 1) {
			continue
		}
		m.open("li", attr{"value", strconv.Itoa(t.Index + 1)})
		m.put("a", orNoPrompt(promptOf(s, t)), href("#"+p.anchor(p.keys[t.First])))
		did(m, s, t)
		m.end("li")
	}
	m.end("ol")
	m.end("details")
	m.end("nav")
}

// did counts the calls of a turn after its prompt.
func did(m *markup, s *events.Stream, t events.Turn) {
	var calls []*call
	for i := t.First; i <= t.Last; i++ {
		if ev, ok := s.At(i).Event().(*events.ToolCallRequest); ok {
			calls = append(calls, &call{name: ev.Name})
		}
	}
	if len(calls) > 0 {
		m.put("span", render.Count(len(calls), "call"), class("did"),
			attr{"title", toolsOf(calls)})
	}
}

// anchor returns the id of the element with a key. A key is untrusted: the id cannot be one of the
// page's own, and is one word.
func (p *pageWriter) anchor(key string) string {
	return "e-" + p.prefix + url.PathEscape(key)
}

// anchored returns the id of the element with a key, unless the enclosing element has it already.
func (p *pageWriter) anchored(key, within string) attr {
	if key == within || key == "" {
		return attr{}
	}
	return id(p.anchor(key))
}

func (d *Document) link(session string) string {
	if d.Link == nil {
		return ""
	}
	return d.Link(session)
}

// Turn implements [render.Visitor].
func (p *pageWriter) Turn(t render.Turn) error {
	p.flush()
	p.turn = &t
	return p.m.err
}

// Item implements [render.Visitor].
func (p *pageWriter) Item(it render.Item) error {
	p.items = append(p.items, it)
	return nil
}

// flush writes the elements that were collected.
func (p *pageWriter) flush() {
	items, turn := p.items, p.turn
	p.items, p.turn = nil, nil
	if turn != nil && !p.shows(turn.From) || turn == nil && p.conv.Only != nil {
		return
	}
	if turn == nil {
		p.steps(items)
		return
	}
	key := turnKey(p.keys, items)
	m := p.m
	at := p.anchor(key)
	m.open("section", class("turn"), id(at), attr{"aria-labelledby", "h" + at})
	p.turnHead(*turn, key, items)
	var segment []render.Item
	for _, it := range items {
		if it.Element.Kind() == events.KindTurnStart {
			continue
		}
		if isPrompt(it) && !isPreface(segment) {
			p.segment(segment, key)
			segment = nil
		}
		segment = append(segment, it)
	}
	p.segment(segment, key)
	m.end("section")
	m.raw("\n")
}

// shows reports whether a turn is chosen, counted from 1.
func (p *pageWriter) shows(turn int) bool { return p.conv.Only == nil || p.conv.Only(turn) }

// turnKey returns the key of the first event of a turn.
func turnKey(keys []string, items []render.Item) string {
	for _, it := range items {
		if it.Element.Kind().IsEvent() {
			return keys[it.Index]
		}
	}
	return ""
}

// isPrompt reports whether a person wrote the request.
func isPrompt(it render.Item) bool {
	_, ok := it.Element.Event().(*events.ChatRequest)
	return ok && !render.Injected(it.Element) && !marked(it.Element, "split")
}

// marked reports whether one of our metadata keys is true.
func marked(e *events.Element, name string) bool {
	v, ok := e.Metadata().Value(events.MetadataPrefix + name)
	return ok && string(v) == "true"
}

func (p *pageWriter) turnHead(t render.Turn, key string, items []render.Item) {
	m := p.m
	m.open("header", class("turn-head"))
	m.open(heading(p.level+1), id("h"+p.anchor(key)))
	m.put("a", sentence(t.Label), href("#"+p.anchor(key)), attr{"title", "Link to this turn"})
	if t.Author != "" {
		m.text(", " + t.Author)
	}
	m.end(heading(p.level + 1))
	m.open("p", class("facts"))
	said := []string{}
	model := t.Model
	if model == p.model {
		model = "" // the head of the page has it
	}
	for _, s := range []string{moment(t.At), model, p.spent(items)} {
		if s != "" {
			said = append(said, s)
		}
	}
	m.text(strings.Join(said, " · "))
	m.end("p")
	if t.Parallel != "" {
		m.put("p", "Parallel to "+t.Parallel+": asked and answered without knowledge of what "+
			"stands there.", class("mark"))
	}
	m.end("header")
}

// spent says what the answers of a turn have cost, as far as it is recorded.
func (p *pageWriter) spent(items []render.Item) string {
	var f stats.Row
	for _, it := range items {
		if a, ok := p.spending[it.Index]; ok {
			f.Count(a)
		}
	}
	if f.Answers == 0 {
		return ""
	}
	return figuresLine(f)
}

// segment writes a prompt, the answer, and between them the steps that led to it.
func (p *pageWriter) segment(items []render.Item, turn string) {
	// Records of an agent after an answer are no reason to fold it.
	end := len(items)
	for end > 0 && !isTalk(items[end-1]) {
		end--
	}
	answer := end
	for answer > 0 && isAnswer(items[answer-1]) {
		answer--
	}
	if answer < end {
		items = slices.Concat(items[:answer], items[end:], items[answer:end])
		answer = len(items) - (end - answer)
	} else {
		answer = len(items)
	}
	before := slices.IndexFunc(items[:answer], isPrompt)
	if before >= 0 && isPreface(items[:before]) {
		p.prompt(items[before], turn)
		items = slices.Concat(items[:before], items[before+1:])
		answer--
	}
	if work := items[:answer]; len(work) > 0 && !p.doc.Focused {
		p.work(work)
	}
	for _, it := range items[answer:] {
		p.response(it)
	}
}

// isPreface reports whether elements before a prompt are only its settings.
func isPreface(items []render.Item) bool {
	return !slices.ContainsFunc(items, func(it render.Item) bool {
		_, request := it.Element.Event().(*events.ChatRequest)
		return isPrompt(it) || isTalk(it) && !request
	})
}

// isTalk reports whether an element was said or done, as opposed to thoughts and notes.
func isTalk(it render.Item) bool {
	switch it.Element.Event().(type) {
	case *events.ChatRequest, *events.ToolCallRequest, *events.ToolCallResponse,
		*events.InquiryRequest, *events.InquiryResponse:
		return true
	default:
		return isAnswer(it)
	}
}

// isAnswer reports whether an element is a model's message to the person.
func isAnswer(it render.Item) bool {
	r, ok := it.Element.Event().(*events.ChatResponse)
	return ok && r.Form != events.FormReasoning
}

// work writes the steps that led to an answer, closed.
func (p *pageWriter) work(items []render.Item) {
	m := p.m
	m.open("details", class("work"))
	m.put("summary", workLine(items))
	p.steps(items)
	m.end("details")
}

// workLine summarises the steps that led to an answer.
func workLine(items []render.Item) string {
	calls, failed, messages, reasoning, other := 0, 0, 0, 0, 0
	for _, it := range items {
		switch ev := it.Element.Event().(type) {
		case *events.ToolCallRequest:
			calls++
		case *events.ToolCallResponse:
			if ev.IsError {
				failed++
			}
		case *events.ChatResponse:
			if ev.Form == events.FormReasoning {
				reasoning++
			} else {
				messages++
			}
		default:
			other++
		}
	}
	var all []string
	add := func(n int, noun string) {
		if n > 0 {
			all = append(all, render.Count(n, noun))
		}
	}
	add(calls, "call")
	if calls > 0 && failed > 0 {
		all[len(all)-1] += fmt.Sprintf(" (%d failed)", failed)
	}
	add(messages, "message")
	if reasoning > 0 {
		all = append(all, "reasoning")
	}
	add(other, "note")
	line := strings.Join(all, ", ")
	var first, last time.Time
	for _, it := range items {
		if at := it.Element.Time(); it.Element.Kind().IsEvent() && at.Unix() > 0 {
			if first.IsZero() {
				first = at
			}
			last = at
		}
	}
	if d := last.Sub(first); d >= time.Second {
		line += " · " + d.Round(time.Second).String()
	}
	return sentence(line)
}
