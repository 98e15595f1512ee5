package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

type importCmd struct {
	From     []string `arg:"" optional:"" name:"agent|path|-" help:"Agents, or files and directories with sessions; - for envelopes on standard input."`
	All      bool     `help:"Import the sessions of all agents."`
	Since    string   `placeholder:"TIME" help:"Only sessions that grew since TIME."`
	Session  []string `placeholder:"ID" help:"Only the session with this id of the agent, or beginning with it."`
	Foreign  bool     `help:"Also sessions that ran outside of this working tree."`
	DryRun   bool     `short:"n" help:"Print what is new and has grown, and change nothing."`
	Hold     bool     `help:"Make new conversations in user-local storage, not in the workspace."`
	Accept   bool     `help:"Move held conversations into the workspace."`
	Reimport bool     `help:"Import again what has not grown, by today's importer and rules."`
	Again    bool     `help:"Import again what was removed."`
	Yes      bool     `short:"y" help:"Do not ask."`

	AllowSecret []string `placeholder:"FINGERPRINT" help:"Keep this finding, which --dry-run lists: it is no secret."`
}

// Help explains where sessions come from and where they go.
func (importCmd) Help() string {
	return `Makes conversations of the sessions of coding agents: ` + agentNames() + `.
Without arguments it lists what could be imported and imports nothing.

An imported conversation lies in the archive (git jp ls --agents) under an id that everybody
who imports the session gives it. Importing again lets it grow; what somebody added or changed
here stays. Sessions that ran outside of this working tree are left out unless --foreign is
given. The directory of the working tree becomes $WORKSPACE and the home directory $HOME.
Secrets that rules find are left out; docs/secrets.md lists the rules. --dry-run lists each of
them with its fingerprint, and --allow-secret commits to one being none and keeps it, with
--reimport also where the session is in already.

With - it takes conversations as git jp export --format=envelopes writes them: all of them as
they are, or none if an id is taken. One that was only the user's stays so.

The first import in a clone shows what would be imported and asks; where nobody can answer,
--yes is required. ` + whenHelp
}

func agentNames() string {
	var names []string
	for _, d := range importer.Dialects() {
		names = append(names, string(d.Agent()))
	}
	return strings.Join(names, ", ")
}

// importRecord is one session in `import --json`.
type importRecord struct {
	Session       string         `json:"session"`
	State         string         `json:"state"`
	ID            string         `json:"id,omitempty"`
	Title         string         `json:"title,omitempty"`
	Directory     string         `json:"directory,omitempty"`
	Bytes         int64          `json:"bytes"`
	ChangedAt     *time.Time     `json:"changed_at,omitempty"`
	Prompts       int            `json:"prompts,omitempty"`
	Calls         int            `json:"calls,omitempty"`
	Records       map[string]int `json:"records,omitempty"`
	Redacted      map[string]int `json:"redacted,omitempty"`
	Outside       map[string]int `json:"outside,omitempty"`
	Secrets       []leftOut      `json:"secrets,omitempty"`
	BrokenLines   []int          `json:"broken_lines,omitempty"`
	Conversations []string       `json:"conversations,omitempty"`
	Error         string         `json:"error,omitempty"`
}

// Run imports sessions, or lists them.
func (c importCmd) Run(ctx context.Context, a *app) error {
	w, err := a.workspace()
	if err != nil {
		return err
	}
	im, err := newImporter(ctx, a, w)
	if err != nil {
		return err
	}
	im.Hold, im.Again, im.Fresh, im.Dry = c.Hold, c.Again, c.Reimport, c.DryRun
	if slices.Contains(c.From, "-") {
		if len(c.From) > 1 {
			return usagef("- stands alone: envelopes are all that standard input has")
		}
		return c.receive(ctx, a, im)
	}
	sel, err := c.selection(a, w)
	if err != nil {
		return err
	}
	if c.Accept {
		return c.accept(ctx, a, im)
	}
	list := len(c.From) == 0 && !c.All && len(c.Session) == 0
	if list && len(c.AllowSecret) > 0 || c.DryRun && len(c.AllowSecret) > 0 {
		return usagef("--allow-secret needs an agent, a path or --session, and no --dry-run")
	}
	found, foreign := importer.Find(ctx, placesOf(a), sel)
	if list {
		return c.list(a, im, found, foreign)
	}
	if !c.DryRun {
		if err := c.agree(ctx, a, im, found); err != nil {
			return err
		}
	}
	if err := a.allowImported(ctx, im, found, c.AllowSecret); err != nil {
		return err
	}
	return c.run(ctx, a, im, found, foreign)
}

// accept moves what is held into the workspace.
func (c importCmd) accept(ctx context.Context, a *app, im *importer.Importer) error {
	accepted, err := im.Accept(ctx)
	for _, m := range accepted {
		if err := printMade(a, m); err != nil {
			return err
		}
	}
	if err == nil && len(accepted) == 0 {
		a.note("no conversation is held")
	}
	return err
}

func printMade(a *app, m importer.Made) error {
	_, err := fmt.Fprintf(a.stdout, "%-5s  %s  %s\n", m.State, m.ID, render.Sanitize(m.Title))
	return err
}

// newImporter returns what takes sessions into a workspace, by its settings and by what it
// commits about secrets. Values of the user's own secrets stop an import: they never choose what
// is written.
func newImporter(
	ctx context.Context, a *app, w *workspace.Workspace,
) (*importer.Importer, error) {
	// What is not known to be redacted or secret would come in.
	if err := w.FileLeftOut(secrets.Dir); err != nil {
		return nil, err
	}
	entries, err := leaks.EntriesOf(w)
	if err != nil {
		return nil, err
	}
	for _, p := range entries.Problems {
		a.warn("%s: %s", p.Path, p.Detail)
	}
	rules := secrets.Builtin().With(entries.Committed)
	rules = rules.Without(a.rulesOff(w.Root())(workspace.DirName, entries.Committed.Off)...)
	exceptions := secrets.Exceptions{}
	for _, allowed := range entries.Allowed {
		exceptions.Add(allowed)
	}
	limits := w.Limits()
	return &importer.Importer{
		Workspace:  w,
		Home:       a.getenv("HOME"),
		Rules:      rules,
		Exceptions: exceptions,
		Redactions: entries.Redactions,
		Restored:   restored(ctx, a, w),
		Options: sessions.Options{
			MaxBlob: w.Blobs().Limits().Max(), MaxStream: limits.OfStream(),
			Refuse: refuseOwn(ctx, a),
		},
	}, nil
}

func refuseOwn(ctx context.Context, a *app) func([]byte) error {
	repo, err := a.repo(ctx)
	if err != nil {
		return nil
	}
	var own []*secrets.Rules
	for _, value := range a.guardOptions(repo).Own {
		own = append(own, secrets.ValueRules(secrets.Own, value))
	}
	return func(text []byte) error {
		for _, rule := range own {
			if len(rule.Scan(text)) > 0 {
				return importer.ErrOwnSecret
			}
		}
		return nil
	}
}

func placesOf(a *app) sessions.Places {
	return sessions.Places{Home: a.getenv("HOME"), Getenv: a.getenv}
}

func (c importCmd) selection(a *app, w *workspace.Workspace) (sel importer.Selection, err error) {
	sel = importer.Selection{IDs: c.Session, Foreign: c.Foreign, Root: w.Root()}
	if sel.Since, err = parseWhen(a, "since", c.Since); err != nil {
		return sel, err
	}
	for _, from := range c.From {
		agent := sessions.Agent(from)
		if slices.Contains(sessions.Agents, agent) {
			sel.Agents = append(sel.Agents, agent)
			continue
		}
		path := a.path(from)
		if _, err := os.Lstat(path); err != nil {
			return sel, usagef("%q is neither an agent (%s) nor a file", from, agentNames())
		}
		sel.Paths = append(sel.Paths, path)
	}
	return sel, nil
}

// list prints what could be imported.
func (c importCmd) list(
	a *app, im *importer.Importer, found []importer.Found, foreign map[string]int,
) error {
	table := render.NewTable(a.output(),
		render.Column{Head: "STATE"}, render.Column{Head: "AGENT"},
		render.Column{Head: "SESSION", Shrink: true, Least: 8},
		render.Column{Head: "SIZE", Align: render.AlignRight},
		render.Column{Head: "CHANGED"}, render.Column{Head: "FIRST WORDS", Shrink: true})
	for _, f := range found {
		if f.Err != nil {
			a.warn("%v", f.Err)
			continue
		}
		state, err := im.Look(f.Session)
		if err != nil {
			a.warn("%v", err)
			continue
		}
		if a.JSON {
			if err := a.printJSON(newImportRecord(f.Session, state)); err != nil {
				return err
			}
			continue
		}
		table.Row(string(state), string(f.Name.Agent), f.Name.ID, render.Bytes(f.Size),
			render.Ago(a.now(), f.Changed), f.Title)
	}
	if !a.JSON {
		if err := table.Write(a.stdout); err != nil {
			return err
		}
	}
	tellForeign(a, foreign)
	return nil
}

// tellForeign says that sessions were left out because they ran elsewhere.
func tellForeign(a *app, foreign map[string]int) {
	n := 0
	for _, count := range foreign {
		n += count
	}
	if n > 0 {
		a.note("%s of %s outside of this working tree left out (--foreign imports them)",
			render.Count(n, "session"), render.Count(len(foreign), "directory"))
	}
}

// agree shows what the first import in a clone would bring, and asks.
func (c importCmd) agree(
	ctx context.Context, a *app, im *importer.Importer, found []importer.Found,
) error {
	repo, err := a.repo(ctx)
	if err != nil && !errors.Is(err, gitint.ErrNotRepository) {
		return err
	}
	if err == nil && importer.Agreed(repo.CommonDir()) {
		return nil
	}
	if !c.Yes {
		if err := c.ask(ctx, a, im, found); err != nil {
			return err
		}
	}
	if repo == nil {
		return nil
	}
	return importer.Agree(repo.CommonDir())
}

func (c importCmd) ask(
	ctx context.Context, a *app, im *importer.Importer, found []importer.Found,
) error {
	what := fmt.Sprintf("import %s", render.Count(countOf(found), "session"))
	if countOf(found) == 0 {
		return nil
	}
	if a.terminal.In != nil {
		if err := c.list(a, im, found, nil); err != nil {
			return err
		}
	}
	question := what + "?"
	if repo, err := a.repo(ctx); err == nil {
		if remotes, err := repo.Remotes(ctx); err == nil && len(remotes) > 0 {
			question += " What is committed can be pushed to " + strings.Join(remotes, ", ") + "."
		}
	}
	return a.terminal.Agree(what, question)
}

func countOf(found []importer.Found) (n int) {
	for _, f := range found {
		if f.Err == nil {
			n++
		}
	}
	return n
}

// run imports what was found. One that cannot be imported is named, and the others are.
func (c importCmd) run(
	ctx context.Context, a *app, im *importer.Importer, found []importer.Found,
	foreign map[string]int,
) error {
	counts := map[importer.State]int{}
	var refused unimportedError
	bar := a.terminal.Progress("import", int64(len(found)))
	for r := range im.All(ctx, found) {
		bar.Add(1)
		if ctx.Err() != nil {
			break
		}
		if r.Err != nil {
			refused = append(refused, r.Err)
			a.warn("%s: %v", sourceName(r.Found), r.Err)
		} else {
			counts[r.Outcome.State]++
		}
		if err := c.print(a, im, r); err != nil {
			return err
		}
	}
	bar.Done()
	tellForeign(a, foreign)
	tellCounts(a, counts, c.DryRun)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused != nil:
		return refused
	}
	return nil
}

// An unimportedError is what was in the way of sessions, which have been named.
type unimportedError []error

func (e unimportedError) Error() string {
	return "import: " + render.Count(len(e), "session") + " could not be imported"
}

// Unwrap returns why.
func (e unimportedError) Unwrap() []error { return e }

func sourceName(f importer.Found) string {
	if f.Name.IsZero() {
		return f.Path
	}
	return f.Name.String()
}

// print prints what became of a session; its outcome is empty where it was refused.
func (c importCmd) print(a *app, im *importer.Importer, r importer.Result) error {
	f, out := r.Found, r.Outcome
	if a.JSON {
		record := newImportRecord(f.Session, out.State)
		record.fill(out, r.Err)
		record.Secrets = leftOutOf(im, out)
		return a.printJSON(record)
	}
	for _, b := range out.Report.Broken {
		a.warn("%s: line %d: %v", f.Name, b.Number, b.Err)
	}
	for _, m := range out.Made {
		if m.State != importer.New && m.State != importer.Grown {
			continue
		}
		if err := printMade(a, m); err != nil {
			return err
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(out.Report.Outside)) {
		a.note("%s: %s of %s, outside of the working tree", f.Name,
			render.Count(out.Report.Outside[dir], "record"), dir)
	}
	for _, rule := range slices.Sorted(maps.Keys(out.Report.Redacted)) {
		a.note("%s: %s left out by rule %s", f.Name,
			render.Count(out.Report.Redacted[rule], "secret"), rule)
	}
	for _, s := range leftOutOf(im, out) {
		if _, err := fmt.Fprintln(a.stdout, s); err != nil {
			return err
		}
	}
	return nil
}

func tellCounts(a *app, counts map[importer.State]int, dry bool) {
	var parts []string
	for _, s := range []importer.State{
		importer.New, importer.Grown, importer.Unchanged, importer.Removed,
	} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing to import"}
	}
	text := strings.Join(parts, ", ")
	if dry {
		text += " (dry run: nothing was changed)"
	}
	a.note("%s", text)
}

func newImportRecord(s sessions.Session, state importer.State) importRecord {
	r := importRecord{
		Session: s.Name.String(), State: string(state), Title: s.Title, Directory: s.Dir,
		Bytes: s.Size,
	}
	if !s.Changed.IsZero() {
		at := s.Changed.UTC()
		r.ChangedAt = &at
	}
	return r
}

func (r *importRecord) fill(out importer.Outcome, err error) {
	if err != nil {
		r.State, r.Error = "refused", err.Error()
	}
	r.Prompts, r.Calls = out.Report.Prompts, out.Report.Calls
	r.Records, r.Redacted = out.Report.Records, out.Report.Redacted
	r.Outside = out.Report.Outside
	for _, b := range out.Report.Broken {
		r.BrokenLines = append(r.BrokenLines, b.Number)
	}
	for i, m := range out.Made {
		if i == 0 {
			r.ID, r.Title = m.ID.String(), m.Title
		}
		r.Conversations = append(r.Conversations, m.ID.String())
	}
}
