package main

import (
	"fmt"

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
	p := figures.Printer{Out: a.stdout, Output: a.output()}
	if err := p.Steps(r.Report); err != nil {
		return err
	}
	tellTangents(a, r.Report)
	if !r.Report.Changed() {
		a.note("%s", idle(r.Report))
		return nil
	}
	if r.Copy == "" {
		return p.Totals(r.Report)
	}
	return p.Totals(r.Report, [2]string{"To undo", "git jp compact --undo " + r.ID})
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

// tellTangents lists what was found and is still there.
func tellTangents(a *app, r compact.Report) {
	for _, s := range r.Steps {
		for _, t := range s.Tangents {
			a.note("tangential: turn %d, %q: %s",
				t.Turn, render.Clip(t.Title), render.Clip(t.Reason))
		}
	}
}
