package compactor

import (
	"fmt"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/figures"
	"github.com/git-jp/git-jp/internal/render"
)

// A Record is a compaction by strategies in JSON.
type Record struct {
	ID      string         `json:"id"`     // of the written conversation, or the one to compact
	Source  string         `json:"source"` //
	DryRun  bool           `json:"dry_run"`
	InPlace bool           `json:"in_place"`
	Copy    string         `json:"copy"` // where the removed events are kept
	Report  compact.Report `json:"report"`
}

// print prints the result of a compaction or of a dry run.
func (r Record) print(p *render.Printer) error {
	warnOfSteps(p, r.Report)
	if p.JSON {
		return p.Records(r)
	}
	if p.Quiet {
		_, err := fmt.Fprintln(p.Out, r.ID)
		return err
	}
	f := figures.Printer{Out: p.Out, Output: p.Output}
	if err := f.Steps(r.Report); err != nil {
		return err
	}
	noteTangents(p, r.Report)
	if !r.Report.Changed() {
		p.Note("%s", idle(r.Report))
		return nil
	}
	if r.Copy == "" {
		return f.Totals(r.Report)
	}
	return f.Totals(r.Report, [2]string{"To undo", "git jp compact --undo " + r.ID})
}

// warnOfSteps prints the notes of strategies as warnings.
func warnOfSteps(p *render.Printer, r compact.Report) {
	for _, step := range r.Steps {
		for _, note := range step.Notes {
			p.Warn("%s: %s", step.Strategy, note)
		}
	}
}

// idle returns why nothing changed, and which options would change more.
func idle(r compact.Report) string {
	if r.Idle == "" {
		return "nothing to compact"
	}
	return "nothing to gain, because " + r.Idle +
		"; --keep-last 0 takes all, --keep-calls 3 all but the last three calls"
}

// noteTangents lists the tangential turns that were found and not removed.
func noteTangents(p *render.Printer, r compact.Report) {
	for _, s := range r.Steps {
		for _, t := range s.Tangents {
			p.Note("tangential: %s", tangent(t))
		}
	}
}
