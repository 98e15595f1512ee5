package figures

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stats"
)

// A Printer prints figures.
type Printer struct {
	Out      io.Writer // required
	Output   render.Output
	Terminal bool   // tables have bars
	All      bool   // all turns and tools are listed, not only the largest
	By       string // the kind of rows of spending, in a word
}

// largest is how many tools and turns are listed.
const largest = 10

// name is the least width of a column with names that a user may copy: tools, models. Figures are
// left out of a narrow table before a name is cut.
const name = 20

// Stats prints where the tokens of a conversation are.
func (p Printer) Stats(s compact.Stats) error {
	turns := slices.Clone(s.Turns)
	slices.SortStableFunc(turns, func(x, y compact.Share) int {
		return cmp.Compare(y.Tokens, x.Tokens)
	})
	err := render.Fields(p.Out, p.Output,
		[2]string{"Events", render.Number(int64(s.Events))},
		[2]string{"Bytes", render.Bytes(s.Bytes)},
		[2]string{"Tokens", fmt.Sprintf("about %s (±%.0f %%, %s)",
			render.Number(int64(s.Tokens)), 100*s.Error, Learned(s.Samples))})
	if err != nil {
		return err
	}
	for _, part := range []struct {
		head, count string
		shares      []compact.Share
		all         int // how many there are, 0 if all are listed
	}{
		{"Kind", "Events", s.Sorts, 0},
		{"Tool", "Events", p.cut(s.Tools), len(s.Tools)},
		{"Turn", "Events", p.cut(turns), len(turns)},
		{"Had before", "Results", s.Sent, 0},
		{"Twice or of no use", "Results", s.Waste, 0},
		{"Strategy would save", "Events", s.Strategies, 0},
	} {
		if err := p.shares(part.head, part.count, part.shares, s.Tokens); err != nil {
			return err
		}
		if more := part.all - len(part.shares); part.all > 0 && more > 0 {
			_, err := fmt.Fprintf(p.Out, "… and %s, listed with --all\n",
				render.Count(more, strings.ToLower(part.head)))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (p Printer) cut(all []compact.Share) []compact.Share {
	if p.All || len(all) <= largest {
		return all
	}
	return all[:largest]
}

// shares prints one table, with a bar for each row on a terminal.
func (p Printer) shares(head, count string, shares []compact.Share, whole float64) error {
	if len(shares) == 0 {
		return nil
	}
	fmt.Fprintln(p.Out)
	t := render.NewTable(p.Output,
		render.Column{Head: head, Shrink: true, Least: name},
		render.Column{Head: count, Align: render.AlignRight, Optional: 2},
		render.Column{Head: "Bytes", Align: render.AlignRight, Optional: 1},
		render.Column{Head: "Tokens", Align: render.AlignRight},
		render.Column{Head: "Share", Align: render.AlignRight, Optional: 3},
		render.Column{Optional: 4})
	for _, s := range shares {
		part := 0.0
		if whole > 0 {
			part = s.Tokens / whole
		}
		bar := ""
		if p.Terminal {
			bar = render.Bar(part, 0)
		}
		t.Row(s.Name, render.Number(int64(s.Count)), render.Bytes(s.Bytes),
			"≈"+render.Number(int64(s.Tokens)), fmt.Sprintf("%.1f %%", 100*part), bar)
	}
	return t.Write(p.Out)
}

// Learned says what estimates are based on.
func Learned(samples int) string {
	if samples == 0 {
		return "without recorded usage to learn from"
	}
	return "learned from " + render.Count(samples, "request")
}

// Spending prints what was spent, a row each, and the sum.
func (p Printer) Spending(rows []stats.Row) error {
	right := func(head string, optional int) render.Column {
		return render.Column{Head: head, Align: render.AlignRight, Optional: optional}
	}
	t := render.NewTable(p.Output,
		render.Column{Head: strings.ToUpper(p.By), Shrink: true, Least: name},
		right("CONVERSATIONS", 5), right("ANSWERS", 4), right("TOKENS IN", 1), right("CACHED", 3),
		right("OUT", 2), right("USD", 0), render.Column{})
	add := func(name, conversations string, r stats.Row) {
		unpriced := ""
		if r.Unpriced > 0 {
			unpriced = "and " + render.Count(r.Unpriced, "answer") + " without a known price"
		}
		t.Row(name, conversations, render.Number(int64(r.Answers)), render.Number(r.Input),
			render.Number(r.Cached), render.Number(r.Output), fmt.Sprintf("%.4f", r.USD), unpriced)
	}
	for _, r := range rows {
		add(r.Name, render.Number(int64(r.Conversations)), r)
	}
	if len(rows) > 1 {
		add("total", "", stats.Total(rows))
	}
	return t.Write(p.Out)
}
