package figures

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stats"
)

// Caching prints how much of the prompts came from caches, and why the rest did not.
func (p Printer) Caching(c stats.Caching) error {
	cost := "$%.4f"
	if c.Unpriced > 0 {
		cost += ", and " + render.Count(c.Unpriced, "answer") + " without a known price"
	}
	err := render.Fields(p.Out, p.Output,
		[2]string{"Answers", render.Number(int64(c.Answers))},
		[2]string{"Read from the cache", inTokens(c.Read) + ", " + fmt.Sprintf(cost, c.USD)},
		[2]string{"Written into it", writtenOf(c)},
		[2]string{"Read in full", inTokens(c.Full)})
	if err != nil || len(c.Causes) == 0 {
		return err
	}
	fmt.Fprintln(p.Out)
	t := render.NewTable(p.Output, render.Column{Head: "Not in the cache"},
		render.Column{Head: "Answers", Align: render.AlignRight},
		render.Column{Head: "Tokens", Align: render.AlignRight},
		render.Column{Head: "USD", Align: render.AlignRight},
		render.Column{Head: "Because", Shrink: true})
	for _, x := range c.Causes {
		t.Row(string(x.Cause), render.Number(int64(x.Answers)), render.Number(x.Tokens),
			fmt.Sprintf("%.4f", x.USD), x.Cause.Because())
	}
	return t.Write(p.Out)
}

func inTokens(n int64) string { return render.Number(n) + " tokens" }

// writtenOf says how much was written into caches, as far as providers report it.
func writtenOf(c stats.Caching) string {
	switch {
	case c.Untold == c.Answers:
		return "not told"
	case c.Untold > 0:
		return inTokens(c.Written) + ", and not told of " + render.Count(c.Untold, "answer")
	default:
		return inTokens(c.Written)
	}
}
