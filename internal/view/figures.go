package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
)

// figures are what answers have cost, by the usage that is recorded with them.
type figures struct {
	answers, unpriced     int
	input, cached, output int64
	usd                   float64
}

// A price is what an answer has cost, where that is known.
type price struct {
	usd   float64
	known bool
}

func (f *figures) add(u compact.Usage, cost price) {
	f.answers++
	f.input += u.Prompt()
	f.cached += u.CacheRead
	f.output += u.Output
	if cost.known {
		f.usd += cost.usd
	} else {
		f.unpriced++
	}
}

// String says the figures in a line.
func (f figures) String() string {
	s := fmt.Sprintf("%s tokens in", tokens(f.input))
	if f.cached > 0 && f.input > 0 {
		s += fmt.Sprintf(" (%d %% from a cache)", 100*f.cached/f.input)
	}
	s += fmt.Sprintf(", %s out", tokens(f.output))
	if f.usd > 0 {
		s += ", " + dollars(f.usd)
		if f.unpriced > 0 {
			s += " and more"
		}
	}
	return s
}

// tokens writes a count of tokens with three digits at most.
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

// priceOf is what the answer that ends with an element has cost.
func (p *pageWriter) priceOf(e *events.Element, u compact.Usage) (cost price) {
	if p.doc.Price == nil {
		return price{}
	}
	model := u.Model
	provider, of, _ := strings.Cut(p.model, "/")
	if model == "" || model == of {
		model = p.model
	} else if !strings.Contains(model, "/") {
		model = provider + "/" + model
	}
	if sent, ok := compact.SentOf(e); ok && sent.Model != "" {
		model = sent.Model
	}
	cost.usd, cost.known = p.doc.Price(model, u)
	return cost
}

// A bar is a row of a chart.
type bar struct {
	label, href string
	value       int64
	part        int64 // of the value, in another shade
	says        string
}

// figures writes what turns and tools have cost: reported where a provider told it, estimated
// where it is what texts are guessed to have.
func (p *pageWriter) figures() {
	turns, total := p.byTurn()
	tools := p.byTool()
	if len(turns) == 0 && len(tools) == 0 {
		return
	}
	m := p.m
	m.open("details", class("figures"))
	switch {
	case total.answers > 0:
		m.put("summary", "Figures: "+total.String())
	default:
		m.put("summary", "Figures: tokens are estimated, no answer has recorded usage")
	}
	if len(turns) > 0 {
		p.chart("Prompt by turn, tokens as reported; from a cache in the lighter shade", turns)
	}
	if len(tools) > 0 {
		p.chart("What fills the context, by tool: tokens are estimated", tools)
	}
	m.end("details")
}

// byTurn returns the largest prompt of each turn: it is how full the context was.
func (p *pageWriter) byTurn() (bars []bar, total figures) {
	s := p.conv.Stream
	for _, t := range s.Turns() {
		if !p.shows(t.Index + 1) {
			continue
		}
		var f figures
		var full compact.Usage
		for i := t.First; i <= t.Last; i++ {
			u, ok := compact.UsageOf(s.At(i))
			if !ok {
				continue
			}
			f.add(u, p.priceOf(s.At(i), u))
			total.add(u, p.priceOf(s.At(i), u))
			if u.Prompt() > full.Prompt() {
				full = u
			}
		}
		if f.answers > 0 {
			bars = append(bars, bar{
				label: fmt.Sprintf("Turn %d", t.Index+1), href: "#" + p.anchor(p.keys[t.First]),
				value: full.Prompt(), part: full.CacheRead, says: f.String(),
			})
		}
	}
	return bars, total
}

// byTool returns what results take, by tool, the largest first.
func (p *pageWriter) byTool() []bar {
	const bytesPerToken, most = 4, 10
	size, calls := map[string]int64{}, map[string]int{}
	for _, c := range p.conv.Stream.Calls() {
		calls[c.Name]++
		if c.Open() {
			continue
		}
		r, _ := p.conv.Stream.At(c.Response).Event().(*events.ToolCallResponse)
		for _, b := range r.Blocks {
			if b.Resource != nil {
				size[c.Name] += b.Resource.Content.Size()
			} else if b.Type == events.BlockText {
				size[c.Name] += b.Content.Size()
			}
		}
	}
	var bars []bar
	for n, bytes := range size {
		bars = append(bars, bar{
			label: n, value: bytes / bytesPerToken,
			says: "about " + tokens(bytes/bytesPerToken) + " in " + render.Count(calls[n], "call"),
		})
	}
	slices.SortFunc(bars, func(a, b bar) int {
		if a.value != b.value {
			return int(b.value - a.value)
		}
		return strings.Compare(a.label, b.label)
	})
	return bars[:min(len(bars), most)]
}

// chart writes bars as a table: it reads the same without eyes.
func (p *pageWriter) chart(caption string, bars []bar) {
	const width = 1000
	var most int64 = 1
	for _, b := range bars {
		most = max(most, b.value)
	}
	m := p.m
	m.open("table", class("chart"))
	m.put("caption", caption)
	m.open("tbody")
	for _, b := range bars {
		m.open("tr")
		m.open("th", attr{"scope", "row"})
		if b.href != "" {
			m.put("a", b.label, href(b.href))
		} else {
			m.text(b.label)
		}
		m.end("th")
		m.open("td")
		m.open("svg", attr{"viewBox", "0 0 1000 10"}, attr{"preserveAspectRatio", "none"},
			attr{"aria-hidden", "true"})
		m.open("rect", attr{"height", "10"}, attr{"width", fmt.Sprint(width * b.value / most)})
		m.end("rect")
		if b.part > 0 {
			m.open("rect", class("part"), attr{"height", "10"},
				attr{"width", fmt.Sprint(width * b.part / most)})
			m.end("rect")
		}
		m.end("svg")
		m.end("td")
		m.put("td", b.says)
		m.end("tr")
	}
	m.end("tbody")
	m.end("table")
}
