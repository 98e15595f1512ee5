package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stats"
)

// A bar is a row of a chart.
type bar struct {
	label, href string
	value       int64
	part        int64 // of the value, in another shade
	says        string
}

// chart writes bars as a table, which a screen reader reads too.
func chart(m *markup, caption string, bars []bar) {
	const width = 1000
	if len(bars) == 0 {
		return
	}
	var most int64 = 1
	for _, b := range bars {
		most = max(most, b.value)
	}
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

// summed adds answers up by a name, in the order of the names.
func summed(all []stats.Answer, name func(stats.Answer) string) (bars []bar) {
	rows := map[string]*stats.Row{}
	for _, a := range all {
		n := cmp.Or(name(a), "?")
		if rows[n] == nil {
			rows[n] = &stats.Row{Name: n}
		}
		rows[n].Count(a)
	}
	for _, r := range rows {
		bars = append(bars, bar{
			label: r.Name, value: r.Input + r.Output, part: r.Cached, says: figuresLine(*r),
		})
	}
	slices.SortFunc(bars, func(a, b bar) int { return strings.Compare(a.label, b.label) })
	return bars
}

// A tally adds up the sizes of texts by name.
type tally map[string]*counted

type counted struct {
	bytes int64
	n     int
	noun  string
}

func (t *tally) add(name string, bytes int64, noun string) {
	if *t == nil {
		*t = make(tally)
	}
	if (*t)[name] == nil {
		(*t)[name] = &counted{noun: noun}
	}
	(*t)[name].bytes += bytes
	(*t)[name].n++
}

// bars returns the estimated tokens, the most first.
func (t tally) bars() (bars []bar) {
	const bytesPerToken = 4
	for name, c := range t {
		n := c.bytes / bytesPerToken
		bars = append(bars, bar{
			label: name, value: n,
			says: "about " + tokens(n) + " in " + render.Count(c.n, c.noun),
		})
	}
	slices.SortFunc(bars, func(a, b bar) int {
		return cmp.Or(cmp.Compare(b.value, a.value), strings.Compare(a.label, b.label))
	})
	return bars
}
