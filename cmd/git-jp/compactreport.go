package main

import (
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/figures"
	"github.com/git-jp/git-jp/internal/render"
)

// tellCompacted prints what a run did, or would do.
func tellCompacted(a *app, r compactedRecord) error {
	warnOfSteps(a, r.Report)
	if a.JSON {
		return a.printJSON(r)
	}
	if a.Quiet {
		_, err := fmt.Fprintln(a.stdout, r.ID)
		return err
	}
	if err := printSteps(a, r.Report); err != nil {
		return err
	}
	if err := printTools(a, r.Report); err != nil {
		return err
	}
	tellTangents(a, r.Report)
	if !r.Report.Changed() {
		a.note("%s", idle(r.Report))
		return nil
	}
	fmt.Fprintln(a.stdout)
	return render.Fields(a.stdout, a.output(), totals(r)...)
}

// warnOfSteps tells what strategies noticed.
func warnOfSteps(a *app, r compact.Report) {
	for _, step := range r.Steps {
		for _, note := range step.Notes {
			a.warn("%s: %s", step.Strategy, note)
		}
	}
}

// idle says that nothing changed, and how more would.
func idle(r compact.Report) string {
	if r.Idle == "" {
		return "nothing to compact"
	}
	return "nothing to gain, because " + r.Idle +
		"; --keep-last 0 takes all, --keep-calls 3 all but the last three calls"
}

func printSteps(a *app, r compact.Report) error {
	t := render.NewTable(a.output(),
		render.Column{Head: "Strategy"},
		render.Column{Head: "Events", Align: render.AlignRight},
		render.Column{Head: "Changed", Align: render.AlignRight},
		render.Column{Head: "Bytes", Align: render.AlignRight},
		render.Column{Head: "Tokens", Align: render.AlignRight},
		render.Column{Head: "Why", Shrink: true})
	for _, s := range r.Steps {
		t.Row(s.Strategy, signed(-s.EventsRemoved), fmt.Sprint(s.Changed), signedBytes(-s.Bytes),
			"≈"+signed(-int(s.Tokens)), s.Reason)
	}
	return t.Write(a.stdout)
}

func printTools(a *app, r compact.Report) error {
	if len(r.Tools) == 0 {
		return nil
	}
	fmt.Fprintln(a.stdout)
	t := render.NewTable(a.output(),
		render.Column{Head: "Tool", Shrink: true},
		render.Column{Head: "Events", Align: render.AlignRight},
		render.Column{Head: "Bytes", Align: render.AlignRight},
		render.Column{Head: "Tokens", Align: render.AlignRight})
	for _, s := range r.Tools {
		t.Row(s.Tool, signed(-s.Events), signedBytes(-s.Bytes), "≈"+signed(-int(s.Tokens)))
	}
	return t.Write(a.stdout)
}

// tellTangents lists what was found and is still there.
func tellTangents(a *app, r compact.Report) {
	for _, s := range r.Steps {
		for _, t := range s.Tangents {
			a.note("tangential: turn %d, %q: %s",
				t.Turn, render.Clip(t.Title), render.Clip(t.Reason))
		}
	}
}

// totals are the lines below the tables.
func totals(r compactedRecord) [][2]string {
	rep := r.Report
	out := [][2]string{
		{"Events", fmt.Sprintf("%d → %d", rep.EventsBefore, rep.EventsAfter)},
		{"Bytes", render.Bytes(rep.BytesBefore) + " → " + render.Bytes(rep.BytesAfter)},
		{"Tokens", fmt.Sprintf("about %s → %s (±%.0f %%, %s)",
			render.Number(int64(rep.TokensBefore)), render.Number(int64(rep.TokensAfter)),
			100*rep.Error, figures.Learned(rep.Samples))},
	}
	if rep.Goal > 0 {
		out = append(out, [2]string{"Goal", render.Number(int64(rep.Goal)) + " tokens"})
	}
	if rep.Money != nil {
		out = append(out, [2]string{"Cost", rep.Money.String()},
			[2]string{"Cache", cacheWords(rep.Money.Cold)})
	}
	for _, s := range rep.Steps {
		if u := s.Usage; u != nil && u.Prompt()+u.Output > 0 {
			out = append(out, [2]string{"Spent on " + s.Strategy, spent(*u)})
		}
		if len(s.Pruned) > 0 {
			out = append(out, [2]string{"Tools pruned", strings.Join(s.Pruned, ", ")})
		}
	}
	if r.Copy != "" {
		out = append(out, [2]string{"To undo", "git jp compact --undo " + r.ID})
	}
	return out
}

// cacheWords say whether the provider has what it was sent last.
func cacheWords(cold bool) string {
	if cold {
		return "the provider has forgotten the prompt"
	}
	return "the provider may still have the prompt"
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
