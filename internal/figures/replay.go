package figures

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/stats"
)

// Replays prints what input would have cost, a row each.
func Replays(p *render.Printer, all []stats.Replay) error {
	if p.JSON {
		return render.Records(p, all)
	}
	right := func(head string) render.Column {
		return render.Column{Head: head, Align: render.AlignRight}
	}
	t := render.NewTable(p.Output,
		render.Column{Head: "Model", Shrink: true}, render.Column{Head: "Schedule"},
		right("Requests"), right("Rewrites"), right("Trimmed"), right("Input"), right("Change"),
		render.Column{Head: "Prices of"})
	for _, r := range all {
		t.Row(r.Model, r.Schedule, render.Number(int64(r.Calls)), render.Number(int64(r.Rewrites)),
			render.Number(int64(r.Trimmed)), fmt.Sprintf("$%.4f", r.USD),
			fmt.Sprintf("%+.2f %%", 100*r.Change), r.AsOf)
	}
	return t.Write(p.Out)
}
