package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions/envelope"
)

// An Intake imports sessions and prints the results.
type Intake struct {
	*importer.Importer

	Terminal *ask.Terminal
	// Repo opens the repository in which the command runs, once.
	Repo func(context.Context) (*gitint.Repo, error)
}

// List prints what could be imported, and how many sessions were left out because they ran
// elsewhere.
func (in Intake) List(found []importer.Found, foreign map[string]int) error {
	if err := in.list(found); err != nil {
		return err
	}
	if len(found) == 0 {
		in.Terminal.Note("no agent has a session of this working tree")
	}
	in.noteForeign(foreign)
	return nil
}

func (in Intake) list(found []importer.Found) error {
	p := &in.Terminal.Printer
	table := render.NewTable(p.Output,
		render.Column{Head: "STATE"}, render.Column{Head: "AGENT"},
		render.Column{Head: "SESSION", Shrink: true, Least: 8},
		render.Column{Head: "SIZE", Align: render.AlignRight},
		render.Column{Head: "CHANGED"}, render.Column{Head: "FIRST WORDS", Shrink: true})
	for _, f := range found {
		if f.Copy {
			continue // only reading it tells what it adds
		}
		state, err := importer.State(""), f.Err
		if err == nil {
			state, err = in.Look(f.Session)
		}
		if err != nil {
			p.Warn("%v", err)
			continue
		}
		if p.JSON {
			if err := p.Records(in.record(f.Session, state)); err != nil {
				return err
			}
			continue
		}
		table.Row(string(state), string(f.Name.Agent), f.Name.ID, render.Bytes(f.Size),
			render.Ago(p.Now(), f.Changed), in.Heading(f.Session))
	}
	if p.JSON {
		return nil
	}
	return table.Write(p.Out)
}

// noteForeign says that sessions were left out because they ran elsewhere, or in a directory that
// was not recorded.
func (in Intake) noteForeign(foreign map[string]int) {
	unknown, elsewhere, dirs := foreign[""], 0, 0
	for dir, count := range foreign {
		if dir != "" {
			elsewhere, dirs = elsewhere+count, dirs+1
		}
	}
	if elsewhere > 0 {
		in.Terminal.Note("%s of %s outside of this working tree left out (--foreign imports them)",
			render.Count(elsewhere, "session"), render.Count(dirs, "directory"))
	}
	if unknown > 0 {
		in.Terminal.Note("%s of an unknown directory left out (--foreign imports them)",
			render.Count(unknown, "session"))
	}
}

// Agree shows what the first import in a clone would bring, and asks unless the user said yes.
// Outside a repository the answer cannot be noted, and each import asks.
func (in Intake) Agree(ctx context.Context, found []importer.Found, yes bool) error {
	repo, err := in.Repo(ctx)
	switch {
	case errors.Is(err, gitint.ErrNotRepository):
		repo = nil
	case err != nil:
		return err
	case importer.Agreed(repo.CommonDir()):
		return nil
	}
	if !yes {
		if err := in.ask(ctx, repo, found); err != nil {
			return err
		}
	}
	if repo == nil {
		return nil
	}
	return importer.Agree(repo.CommonDir())
}

func (in Intake) ask(ctx context.Context, repo *gitint.Repo, found []importer.Found) error {
	n := 0
	for _, f := range found {
		if f.Err == nil {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	if in.Terminal.In != nil {
		if err := in.list(found); err != nil {
			return err
		}
	}
	what := "import " + render.Count(n, "session")
	question := what + "?"
	if repo != nil {
		if remotes, err := repo.Remotes(ctx); err == nil && len(remotes) > 0 {
			question += " What is committed can be pushed to " + strings.Join(remotes, ", ") + "."
		}
	}
	return in.Terminal.Agree(what, question)
}

// Run imports the sessions. A session that cannot be imported is named, and the others are
// imported.
func (in Intake) Run(
	ctx context.Context, found []importer.Found, foreign map[string]int,
) error {
	counts := newTally()
	var refused unimportedError
	bar := in.Terminal.Progress("import", int64(len(found)))
	for r := range in.All(ctx, found) {
		bar.Add(1)
		if ctx.Err() != nil {
			break
		}
		if r.Err != nil {
			refused = append(refused, r.Err)
		} else {
			counts.add(r.Outcome)
		}
		if err := in.Report(r); err != nil {
			return err
		}
	}
	bar.Done()
	in.noteForeign(foreign)
	in.noteCounts(counts.String())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused != nil:
		return refused
	}
	return nil
}

// An unimportedError has the errors of sessions that were not imported, which have been printed.
type unimportedError []error

func (e unimportedError) Error() string {
	return "import: " + render.Count(len(e), "session") + " could not be imported"
}

// Unwrap returns these errors.
func (e unimportedError) Unwrap() []error { return e }

func sourceName(f importer.Found) string {
	if f.Name.IsZero() {
		return f.Path
	}
	return f.Name.String()
}

// Report prints the result for a session.
func (in Intake) Report(r importer.Result) error {
	p, report := &in.Terminal.Printer, r.Outcome.Report
	if r.Err != nil {
		p.Warn("%s: %v", sourceName(r.Found), r.Err)
	}
	if p.JSON {
		return p.Records(in.resultRecord(r))
	}
	if r.Outcome.Apart != nil {
		advice := ""
		if errors.Is(r.Outcome.Apart, importer.ErrElsewhere) && !in.Again {
			advice = "; --again makes a conversation of its own of the session"
		}
		p.Note("%s: %v%s", r.Name, r.Outcome.Apart, advice)
	}
	for _, b := range report.Broken {
		p.Warn("%s: line %d: %v", r.Name, b.Number, b.Err)
	}
	for _, m := range r.Outcome.Made {
		if m.State != importer.New && m.State != importer.Grown {
			continue
		}
		if err := in.printMade(m); err != nil {
			return err
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(report.Outside)) {
		p.Note("%s: %s of %s, outside of the working tree", r.Name,
			render.Count(report.Outside[dir], "record"), dir)
	}
	for _, rule := range slices.Sorted(maps.Keys(report.Redacted)) {
		p.Note("%s: %s left out by rule %s", r.Name,
			render.Count(report.Redacted[rule], "secret"), rule)
	}
	for _, s := range leftOutOf(r.Outcome, in.Exceptions) {
		if _, err := fmt.Fprintln(p.Out, s); err != nil {
			return err
		}
	}
	return nil
}

func (in Intake) printMade(m importer.Made) error {
	return in.Terminal.Line(render.Sanitize(fmt.Sprintf("%-5s  %s  %s", m.State, m.ID, m.Title)))
}

// A tally counts sessions by their state, and the conversations that new and grown ones became: a
// session may be several.
type tally struct{ sessions, conversations map[importer.State]int }

func newTally() tally { return tally{map[importer.State]int{}, map[importer.State]int{}} }

func (t tally) add(o importer.Outcome) {
	t.sessions[o.State]++
	for _, m := range o.Made {
		t.conversations[m.State]++
	}
}

// String names the unit of each number.
func (t tally) String() string {
	var made, parts []string
	for _, s := range []importer.State{importer.New, importer.Grown} {
		if n := t.conversations[s]; n > 0 {
			made = append(made, render.Count(n, string(s)+" conversation"))
		}
	}
	if n := t.sessions[importer.New] + t.sessions[importer.Grown]; len(made) > 0 {
		parts = append(parts, render.Count(n, "session")+": "+strings.Join(made, ", "))
	}
	for _, s := range []importer.State{importer.Unchanged, importer.Removed} {
		if n := t.sessions[s]; n > 0 {
			parts = append(parts, render.Count(n, "session")+" "+string(s))
		}
	}
	if len(parts) == 0 {
		return "nothing to import"
	}
	return strings.Join(parts, "; ")
}

// noteCounts says what was imported, or would be.
func (in Intake) noteCounts(text string) {
	if in.Dry {
		text += " (dry run: nothing was changed)"
	}
	in.Terminal.Note("%s", text)
}

// Accept moves the conversations that were held back into the workspace.
func (in Intake) Accept(ctx context.Context) error {
	accepted, err := in.Importer.Accept(ctx)
	for _, m := range accepted {
		if err := in.printMade(m); err != nil {
			return err
		}
	}
	if err == nil && len(accepted) == 0 {
		in.Terminal.Note("no conversation is held")
	}
	return err
}

// Receive imports the envelopes that it reads, all or none.
func (in Intake) Receive(ctx context.Context, from io.Reader) error {
	all, err := envelope.Read(from)
	if err != nil {
		return err
	}
	made, err := in.Importer.Receive(ctx, all)
	if err != nil {
		return fmt.Errorf("import: %w; nothing was imported", err)
	}
	for _, e := range all {
		var names []string
		for _, name := range e.Unknown {
			names = append(names, strconv.Quote(name)) // it may have line breaks
		}
		if names != nil {
			in.Terminal.Warn("import %s: unknown members are not imported: %s",
				e.ID, strings.Join(names, ", "))
		}
	}
	imported := 0
	for _, m := range made {
		if m.State == importer.New {
			imported++
		}
		if in.Terminal.JSON {
			err = in.Terminal.Records(Record{
				Session: m.ID.String(), State: string(m.State), ID: m.ID.String(), Title: m.Title,
			})
		} else {
			err = in.printMade(m)
		}
		if err != nil {
			return err
		}
	}
	in.noteCounts(render.Count(imported, "conversation") + " imported")
	return nil
}
