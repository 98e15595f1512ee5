package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
)

// leastGroup is the number of calls in a row from which they form a group.
const leastGroup = 4

// steps writes elements in their order, calls with their results, and calls in a row as a group.
func (p *pageWriter) steps(items []render.Item) {
	var calls []*call
	flush := func() {
		p.calls(calls)
		calls = nil
	}
	for i := 0; i < len(items); i++ {
		it := items[i]
		if ev, ok := it.Element.Event().(*events.ToolCallRequest); ok {
			if len(it.Beside) > 0 {
				flush()
				p.m.writeList("beside", it.Beside)
			}
			c := newCall(p.keys[it.Index], ev, it.Element.Metadata())
			if i+1 < len(items) && p.answers(c, items[i+1]) {
				i++
			}
			calls = append(calls, c)
			continue
		}
		if len(calls) > 0 && p.answers(calls[len(calls)-1], it) {
			continue // after a question of the tool
		}
		flush()
		p.step(it)
	}
	flush()
}

// answers adds a result to its call.
func (p *pageWriter) answers(c *call, it render.Item) bool {
	r, ok := it.Element.Event().(*events.ToolCallResponse)
	if !ok || r.ID != c.id || c.result != nil {
		return false
	}
	c.result, c.parts, c.resultKey = r, it.Parts, p.keys[it.Index]
	return true
}

// calls writes calls in a row.
func (p *pageWriter) calls(all []*call) {
	if len(all) < leastGroup {
		for _, c := range all {
			p.writeCall(c)
		}
		return
	}
	p.m.open("details", class("group"))
	p.m.put("summary", groupLine(all))
	for _, c := range all {
		p.writeCall(c)
	}
	p.m.end("details")
}

// groupLine describes calls in a row.
func groupLine(all []*call) string {
	failed := 0
	for _, c := range all {
		if c.failed() {
			failed++
		}
	}
	line := render.Count(len(all), "call") + ": " + toolsOf(all)
	if failed > 0 {
		line += fmt.Sprintf(" (%d failed)", failed)
	}
	return line
}

// toolsOf names the tools of calls, the most frequent first.
func toolsOf(all []*call) string {
	var names []string
	count := map[string]int{}
	for _, c := range all {
		if count[c.name]++; count[c.name] == 1 {
			names = append(names, c.name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	for i, n := range names {
		if count[n] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", n, count[n])
		}
	}
	return strings.Join(names, ", ")
}

// step writes an element that is not a call.
func (p *pageWriter) step(it render.Item) {
	switch ev := it.Element.Event().(type) {
	case *events.TurnStart:
	case *events.ChatRequest:
		p.request(it, ev)
	case *events.ChatResponse:
		p.response(it)
	case *events.ToolCallResponse: // its call is not here
		p.writeCall(&call{
			key: p.keys[it.Index], resultKey: p.keys[it.Index], name: it.Tool, result: ev,
			parts: it.Parts,
		})
	case *events.InquiryRequest:
		p.note(it, "Question", render.QuestionText(ev.Question))
	case *events.InquiryResponse:
		p.note(it, "Answer", strings.Trim(string(ev.Answer), `"`))
	case *events.ConfigDelta:
		p.note(it, "Configuration", render.ConfigLine(ev.Delta))
	case *events.Compaction:
		p.compaction(it, ev)
	default:
		p.record(it)
	}
}

// note writes a line about an element that is not talk.
func (p *pageWriter) note(it render.Item, label, text string) {
	p.m.open("p", class("note"), id(p.anchor(p.keys[it.Index])))
	p.m.put("b", label)
	p.m.text(" " + text)
	p.m.end("p")
}

// record writes that an agent recorded something that has no counterpart here.
func (p *pageWriter) record(it render.Item) {
	var r struct {
		Agent string
		Kinds map[string]int
	}
	_ = json.Unmarshal(it.Element.Raw(), &r)
	kinds := make([]string, 0, len(r.Kinds))
	for k, n := range r.Kinds {
		kinds = append(kinds, fmt.Sprintf("%s ×%d", k, n))
	}
	slices.Sort(kinds)
	if r.Agent == "" || len(kinds) == 0 {
		p.note(it, "Unknown event", fmt.Sprintf("%q, %s", it.Element.Kind(),
			render.Bytes(int64(len(it.Element.Raw())))))
		return
	}
	p.note(it, "Records of "+r.Agent, strings.Join(kinds, ", "))
}

func (p *pageWriter) compaction(it render.Item, ev *events.Compaction) {
	m := p.m
	line := "Compaction: " + render.CompactionLine(ev)
	if ev.Summary == nil {
		m.put("p", line, class("mark"), id(p.anchor(p.keys[it.Index])))
		return
	}
	m.open("details", class("mark"), id(p.anchor(p.keys[it.Index])))
	m.put("summary", line)
	p.prose.write(m, *ev.Summary)
	m.end("details")
}

// prompt writes a person's message.
func (p *pageWriter) prompt(it render.Item, turn string) {
	ev, _ := it.Element.Event().(*events.ChatRequest)
	p.m.open("div", class("prompt"), p.anchored(p.keys[it.Index], turn))
	p.said(ev.Content)
	for _, part := range it.Parts {
		p.attachment(part)
	}
	p.m.end("div")
}

// said writes a message. A message that is longer than a page shows its beginning.
func (p *pageWriter) said(text string) {
	write := func(piece string) { p.prose.write(p.m, piece) }
	if render.IsTyped(text) {
		text = render.Typed(text)
		write = func(piece string) { p.m.put("pre", piece, class("typed"), scrolls()) }
	}
	const most = 6000
	if len(text) <= most {
		write(text)
		return
	}
	p.m.put("p", render.Clip(text), class("beginning"))
	summary := "The whole message, " + render.Bytes(int64(len(text)))
	p.m.rest(summary, len(text), func() { write(text) })
}

func (p *pageWriter) attachment(part render.Part) {
	p.m.open("details", class("attached"))
	p.m.open("summary")
	p.m.text("Attached ")
	p.m.put("code", part.URI)
	p.m.put("span", about(part), class("outcome"))
	p.m.end("summary")
	part.URI = ""
	p.writePart(part, "")
	p.m.end("details")
}

// request writes what an agent said in the person's name, or a request that continues the turn
// before.
func (p *pageWriter) request(it render.Item, ev *events.ChatRequest) {
	label := "Said by the agent"
	if marked(it.Element, "split") {
		label = "The agent compacted the conversation here"
	}
	printed, isPrinted := render.Printed(ev.Content)
	switch {
	case isPrinted:
		label = "Printed by a command"
	case render.IsTyped(ev.Content):
		label = "Typed for the agent alone: " + render.Clip(render.Typed(ev.Content))
	}
	p.m.open("details", class("injected note"), id(p.anchor(p.keys[it.Index])))
	p.m.put("summary", label+", "+render.Bytes(int64(len(ev.Content))))
	if isPrinted {
		p.writeResultText(render.Part{Text: printed}, "")
	} else {
		p.said(ev.Content)
	}
	for _, part := range it.Parts {
		p.attachment(part)
	}
	p.m.end("details")
}

// response writes a model's message; its reasoning is folded.
func (p *pageWriter) response(it render.Item) {
	ev, _ := it.Element.Event().(*events.ChatResponse)
	m := p.m
	if ev.Form == events.FormReasoning {
		if strings.TrimSpace(ev.Text) == "" {
			return
		}
		m.open("details", class("reasoning"), id(p.anchor(p.keys[it.Index])))
		m.open("summary")
		m.put("b", "Reasoning")
		m.text(" " + render.Clip(cutRunes(ev.Text, clip)))
		m.end("summary")
		p.prose.write(m, ev.Text)
		m.end("details")
		return
	}
	m.open("div", class("answer"), id(p.anchor(p.keys[it.Index])))
	if ev.Form == events.FormData {
		p.writeCode("json", string(ev.Data))
	} else if ev.Text != "" {
		p.prose.write(m, ev.Text)
	}
	p.m.writeList("beside", it.Beside)
	m.end("div")
}

// writeList writes lines, such as what the provider did or cited itself.
func (m *markup) writeList(of string, lines []string) {
	if len(lines) == 0 {
		return
	}
	m.open("ul", class(of))
	for _, line := range lines {
		m.put("li", line)
	}
	m.end("ul")
}
