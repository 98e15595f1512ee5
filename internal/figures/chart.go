package figures

import (
	"cmp"
	"fmt"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stats"
)

// A charted is a row of a chart: its bar begins with the share from a cache.
type charted struct {
	name          string
	value, cached float64
	says          string
}

// chart draws rows, the largest over the full width.
func (p Printer) chart(caption string, rows []charted) error {
	most := 0.0
	for _, r := range rows {
		most = max(most, r.value)
	}
	if most == 0 {
		return nil
	}
	t := render.NewTable(p.Output, render.Column{Head: caption, Shrink: true}, render.Column{},
		render.Column{})
	for _, r := range rows {
		t.Row(r.name, render.Bar(r.value/most, r.cached/most), r.says)
	}
	return t.Write(p.Out)
}

// Chart draws how full the context was in each turn, as providers reported it or as it is
// estimated, and what filled it.
func (p Printer) Chart(s compact.Stats, turns []stats.Turn) error {
	caption, rows := "Prompt by turn, as reported, ░ from a cache", []charted(nil)
	for _, t := range turns {
		rows = append(rows, charted{
			t.Name, float64(t.Largest), float64(t.LargestCached), spentBy(t.Largest, t.Row),
		})
	}
	if len(rows) == 0 {
		caption, rows = "Tokens by turn, estimated", estimated(s.Turns)
	}
	if err := p.chart(caption, rows); err != nil {
		return err
	}
	for _, part := range []struct {
		caption string
		shares  []compact.Share
	}{
		{"Tokens by kind, estimated", s.Sorts},
		{"Tokens by tool, estimated", p.cut(s.Tools)},
	} {
		if len(part.shares) == 0 {
			continue
		}
		fmt.Fprintln(p.Out)
		if err := p.chart(part.caption, estimated(part.shares)); err != nil {
			return err
		}
	}
	return nil
}

func estimated(shares []compact.Share) (rows []charted) {
	for _, s := range shares {
		rows = append(rows, charted{
			name: s.Name, value: s.Tokens, says: "≈" + inTokens(int64(s.Tokens)),
		})
	}
	return rows
}

// ChartSpending draws what was spent: in tokens, since some prices may not be known.
func (p Printer) ChartSpending(rows []stats.Row) error {
	all := make([]charted, len(rows))
	for i, r := range rows {
		all[i] = charted{
			cmp.Or(r.Name, "?"), float64(r.Input + r.Output), float64(r.Cached),
			spentBy(r.Input+r.Output, r),
		}
	}
	return p.chart("Tokens by "+p.By+", as reported, ░ from a cache", all)
}

// spentBy says what a bar shows, and its cost.
func spentBy(tokens int64, r stats.Row) string {
	says := fmt.Sprintf("%s, $%.4f", inTokens(tokens), r.USD)
	if r.Unpriced > 0 {
		says += ", and " + render.Count(r.Unpriced, "answer") + " without a known price"
	}
	return says
}

// ChartCaching draws the tokens that were read from caches beside the others, by cause.
func (p Printer) ChartCaching(c stats.Caching) error {
	read := charted{
		"read from the cache", float64(c.Read), float64(c.Read), inTokens(c.Read),
	}
	all := []charted{read}
	for _, x := range c.Causes {
		all = append(all, charted{
			name: string(x.Cause), value: float64(x.Tokens), says: inTokens(x.Tokens),
		})
	}
	return p.chart("Tokens of prompts, as reported", all)
}
