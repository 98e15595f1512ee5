package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stats"
)

// figuresLine says what answers have cost, by the usage recorded with them.
func figuresLine(r stats.Row) string {
	s := fmt.Sprintf("%s tokens in", tokens(r.Input))
	if r.Cached > 0 && r.Input > 0 {
		s += fmt.Sprintf(" (%d %% from a cache)", 100*r.Cached/r.Input)
	}
	s += fmt.Sprintf(", %s out", tokens(r.Output))
	if r.USD > 0 {
		s += ", " + dollars(r.USD)
		if r.Unpriced > 0 {
			s += " and more"
		}
	}
	return s
}

// tokens returns a count of tokens with three digits at most.
func tokens(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return strings.TrimSuffix(strings.Replace(render.Bytes(n), " ", "", 1), "B")
}

func dollars(usd float64) string {
	if usd < 0.1 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// subject returns the conversation for its figures.
func (c *Conversation) subject() stats.Subject {
	return stats.Subject{ID: c.ID, Base: c.Base, Stream: c.Stream}
}

// reckon computes the cost of the answers of the page. If the configuration becomes unreadable, it
// is the cost of the answers before, which the page shows anyway.
func (p *pageWriter) reckon() {
	all, _ := stats.Answers(p.conv.subject(), p.doc.Prices)
	p.spending = make(map[int]stats.Answer, len(all))
	for _, a := range all {
		p.spending[a.Index] = a
	}
}

// figures writes the cost of turns, days and tools: reported if a provider reported it, estimated
// if it is guessed from texts.
func (p *pageWriter) figures() {
	turns, total := p.byTurn()
	parts, tools := p.byPart()
	if len(turns) == 0 && len(parts) == 0 {
		return
	}
	m := p.m
	m.open("details", class("figures"))
	switch {
	case total.Answers > 0:
		m.put("summary", "Figures: "+figuresLine(total))
	default:
		m.put("summary", "Figures: tokens are estimated, no answer has recorded usage")
	}
	chart(m, "Prompt by turn, tokens as reported; from a cache in the paler shade", turns)
	if days := days(p.answersShown()); len(days) > 1 {
		chart(m, "Tokens by day, as reported; from a cache in the paler shade", days)
	}
	chart(m, "Tokens by tool whose result was answered, as reported", byTool(p.answersShown()))
	chart(m, "Tokens of prompts, as reported: from a cache, and why the rest was not", p.caching())
	chart(m, "What fills the context: tokens are estimated", parts)
	chart(m, "Results by tool: tokens are estimated", tools)
	m.end("details")
}

// byTurn returns the largest prompt of each turn, which shows how full the context was.
func (p *pageWriter) byTurn() (bars []bar, total stats.Row) {
	for _, t := range p.conv.Stream.Turns() {
		if !p.shows(t.Index + 1) {
			continue
		}
		var f stats.Row
		var full stats.Answer
		for i := t.First; i <= t.Last; i++ {
			a, ok := p.spending[i]
			if !ok {
				continue
			}
			f.Count(a)
			total.Count(a)
			if a.Largest > full.Largest {
				full = a
			}
		}
		if f.Answers > 0 {
			bars = append(bars, bar{
				label: fmt.Sprintf("Turn %d", t.Index+1), href: "#" + p.anchor(p.keys[t.First]),
				value: full.Largest, part: full.LargestCached, says: figuresLine(f),
			})
		}
	}
	return bars, total
}

// answersShown returns the answers of the turns that are shown.
func (p *pageWriter) answersShown() (all []stats.Answer) {
	turn := p.conv.Stream.TurnOf()
	for i := range p.conv.Stream.All() {
		if a, ok := p.spending[i]; ok && p.shows(turn[i]+1) {
			all = append(all, a)
		}
	}
	return all
}

// days adds answers up by the day in UTC, in the order of the days.
func days(all []stats.Answer) []bar {
	return summed(all, func(a stats.Answer) string { return a.At.UTC().Format(time.DateOnly) })
}

// byModel adds answers up by their model.
func byModel(all []stats.Answer) []bar {
	return summed(all, func(a stats.Answer) string { return a.Model })
}

// byTool adds answers up by the tool whose result they followed, the most first.
func byTool(all []stats.Answer) []bar {
	bars := summed(all, func(a stats.Answer) string { return cmp.Or(a.Tool, stats.NoTool) })
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(b.value, a.value) })
	return bars[:min(len(bars), mostTools)]
}

// caching returns how much of the prompts came from the provider's cache, and why the rest did not.
// Nothing is known of single turns: on a page of some turns it is left out.
func (p *pageWriter) caching() (bars []bar) {
	if len(p.spending) == 0 || p.conv.Only != nil {
		return nil
	}
	ledger := stats.NewCacheLedger(p.doc.Prices)
	_ = ledger.Add(p.conv.subject()) // as in reckon
	c := ledger.Caching()
	if c.Read+c.Written == 0 {
		return nil
	}
	bars = append(bars, bar{
		label: "From a cache", value: c.Read, part: c.Read, says: tokens(c.Read),
	})
	for _, x := range c.Causes {
		bars = append(bars, bar{
			label: sentence(string(x.Cause)), value: x.Tokens,
			says: tokens(x.Tokens) + ": " + x.Cause.Because(),
		})
	}
	return bars
}

// mostTools is how many tools a chart has.
const mostTools = 10

// byPart returns what fills the context: messages by author, and results by tool, the largest
// first. Only providers count these, so they are estimated.
func (p *pageWriter) byPart() (parts, tools []bar) {
	var kinds, results tally
	turn := p.conv.Stream.TurnOf()
	for i, e := range p.conv.Stream.All() {
		if !p.shows(turn[i] + 1) {
			continue
		}
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			size := int64(len(ev.Content))
			for _, a := range ev.Resources {
				size += a.Content.Size()
			}
			kinds.add("Prompts", size, "prompt")
		case *events.ChatResponse:
			if ev.Form == events.FormReasoning {
				kinds.add("Reasoning", int64(len(ev.Text)), "block")
			} else {
				kinds.add("Answers", int64(len(ev.Text)+len(ev.Data)), "message")
			}
		case *events.ToolCallRequest:
			kinds.add("Calls", int64(len(ev.Name)+len(ev.Arguments)), "call")
		}
	}
	for _, c := range p.conv.Stream.Calls() {
		if c.Open() || !p.shows(turn[c.Request]+1) {
			continue
		}
		r, _ := p.conv.Stream.At(c.Response).Event().(*events.ToolCallResponse)
		size := sizeOf(r)
		kinds.add("Results", size, "result")
		results.add(c.Name, size, "call")
	}
	tools = results.bars()
	return kinds.bars(), tools[:min(len(tools), mostTools)]
}

// sizeOf returns how many bytes a result gives a model.
func sizeOf(r *events.ToolCallResponse) (n int64) {
	for _, b := range r.Blocks {
		if b.Resource != nil {
			n += b.Resource.Content.Size()
		} else if b.Type == events.BlockText {
			n += b.Content.Size()
		}
	}
	return n
}
