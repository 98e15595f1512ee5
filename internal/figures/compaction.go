package figures

import (
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/render"
)

// Steps prints what each strategy of a compaction did, or would do, and what was removed of each
// tool.
func (p Printer) Steps(r compact.Report) error {
	t := render.NewTable(p.Output,
		render.Column{Head: "Strategy"},
		render.Column{Head: "Events", Align: render.AlignRight, Optional: 1},
		render.Column{Head: "Changed", Align: render.AlignRight, Optional: 3},
		render.Column{Head: "Bytes", Align: render.AlignRight},
		render.Column{Head: "Tokens", Align: render.AlignRight},
		render.Column{Head: "Why", Shrink: true, Optional: 2})
	for _, s := range r.Steps {
		t.Row(s.Strategy, signed(-s.EventsRemoved), fmt.Sprint(s.Changed), signedBytes(-s.Bytes),
			"≈"+signed(-int(s.Tokens)), s.Reason)
	}
	if err := t.Write(p.Out); err != nil {
		return err
	}
	return p.tools(r)
}

func (p Printer) tools(r compact.Report) error {
	if len(r.Tools) == 0 {
		return nil
	}
	fmt.Fprintln(p.Out)
	t := render.NewTable(p.Output,
		render.Column{Head: "Tool", Shrink: true, Least: name},
		render.Column{Head: "Events", Align: render.AlignRight, Optional: 1},
		render.Column{Head: "Bytes", Align: render.AlignRight},
		render.Column{Head: "Tokens", Align: render.AlignRight})
	for _, s := range r.Tools {
		t.Row(s.Tool, signed(-s.Events), signedBytes(-s.Bytes), "≈"+signed(-int(s.Tokens)))
	}
	return t.Write(p.Out)
}

// Totals prints the total changes of a compaction, and further lines.
func (p Printer) Totals(rep compact.Report, more ...[2]string) error {
	out := [][2]string{
		{"Events", fmt.Sprintf("%d → %d", rep.EventsBefore, rep.EventsAfter)},
		{"Bytes", render.Bytes(rep.BytesBefore) + " → " + render.Bytes(rep.BytesAfter)},
		{"Tokens", fmt.Sprintf("about %s → %s (±%.0f %%, %s)",
			render.Number(int64(rep.TokensBefore)), render.Number(int64(rep.TokensAfter)),
			100*rep.Error, Learned(rep.Samples))},
	}
	if rep.Goal > 0 {
		out = append(out, [2]string{"Goal", render.Number(int64(rep.Goal)) + " tokens"})
	}
	if rep.Money != nil {
		out = append(out, [2]string{"Cost", rep.Money.String()},
			[2]string{"Cache", CacheWords(rep.Money.Cold)})
	}
	for _, s := range rep.Steps {
		if u := s.Usage; u != nil && u.Prompt()+u.Output > 0 {
			out = append(out, [2]string{"Spent on " + s.Strategy, spent(*u)})
		}
		if len(s.Pruned) > 0 {
			out = append(out, [2]string{"Tools pruned", strings.Join(s.Pruned, ", ")})
		}
	}
	fmt.Fprintln(p.Out)
	return render.Fields(p.Out, p.Output, append(out, more...)...)
}

// CacheWords say whether the provider still has the last prompt.
func CacheWords(cold bool) string {
	if cold {
		return "the prompt is no longer in the provider's cache"
	}
	return "the prompt may still be in the provider's cache"
}

func spent(u compact.Usage) string {
	return fmt.Sprintf("%s tokens in, %s out, with %s", render.Number(u.Prompt()),
		render.Number(u.Output), u.Model)
}

func signed(n int) string {
	if n > 0 {
		return "+" + render.Number(int64(n))
	}
	return render.Number(int64(n))
}

func signedBytes(n int64) string {
	switch {
	case n > 0:
		return "+" + render.Bytes(n)
	case n < 0:
		return "-" + render.Bytes(-n)
	default:
		return render.Bytes(0)
	}
}
