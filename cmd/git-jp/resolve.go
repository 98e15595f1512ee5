package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

type resolveCmd struct {
	Conversation []string `arg:"" optional:"" help:"Conversations; all that are in conflict by default."`
	List         bool     `xor:"how" help:"Only list what there is to decide."`
	Ours         bool     `xor:"how" help:"Keep what our side has."`
	Theirs       bool     `xor:"how" help:"Take what their side has."`
	Both         bool     `xor:"how" help:"Keep theirs behind ours, as a turn of its own."`
	Fork         bool     `xor:"how" help:"Keep ours, and make their side a conversation of its own."`
	Forget       bool     `help:"Forget how these conflicts were answered before."`
	Restore      string   `xor:"how" placeholder:"COMMIT" help:"Bring back what a merge commit left out."`
	Accept       string   `xor:"how" placeholder:"COMMIT" help:"Accept what a merge commit left out."`
}

// Help says what is decided and what is left alone.
func (resolveCmd) Help() string {
	return `A merge leaves to you what both sides changed differently: the file has our version and
loads, git keeps it unmerged. On a terminal both sides are shown and you are asked; with a flag
the answer is the same for all of them. What is decided is staged; 'git merge --continue' or
what else git was doing goes on from there. 'git merge --abort' and
'git checkout --ours' or '--theirs' work as ever.

Each answer is kept as soon as it is given: skip one conflict, or leave, and only the rest is
asked next time. A conflict that comes again, as after 'git reset', is answered as before, and
that is said; --forget asks anew. As 'git rerere' does it, answers are kept for 60 days, and
rerere.enabled=false turns this off.

A conversation that both sides gave another title is in two directories, and git calls it
renamed twice. Both become one, and the title follows the rule for metadata.json, whoever merges.

Where git asked no driver, in a clone that had none, the merge is made up for first. Of a
conversation that one side deleted and the other continued, --ours and --theirs say whose will
is done.

What was decided stands in the message of the merge, as a trailer Jp-Resolved. 'git jp check'
reports what a merge left out otherwise: --restore brings it back and stages it, --accept makes
an empty commit which says that it is to stay out.`
}

// conflictRecord is a decision to make, in `resolve --json`.
type conflictRecord struct {
	ID    string `json:"id"` // of the conversation, "" for content
	Title string `json:"title"`
	Path  string `json:"path"`
	// Kind is edited, continued or removed for a turn; deleted for a file that one side
	// deleted; unmerged for one that nobody merged; renamed for a conversation that got another
	// directory on each side.
	Kind string `json:"kind"`
	Turn int    `json:"turn"` // counted from 1; 0 when it is about the file
	// Answer is what was answered in this merge already, while others wait.
	Answer string `json:"answer,omitempty"`
}

// A conflictRun is one run of resolve.
type conflictRun struct {
	*app
	cmd      resolveCmd
	ctx      context.Context
	resolver merge.Resolver
	prompter *ask.Prompter
	answers  merge.Answers
	merge    string             // names what git is bringing together
	rerere   bool               // answers of earlier merges count
	left     int                // cases that are not decided
	stashed  map[events.ID]bool // conversations that were found in a stash, and that was said
}

// Run decides conflicts.
func (c resolveCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.Accept != "":
		return c.accept(ctx, a)
	case c.Restore != "":
		return c.restore(ctx, a)
	}
	r, cases, err := c.cases(ctx, a)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		a.note("nothing is in conflict")
		return nil
	}
	for _, item := range cases {
		if c.List {
			err = r.list(item)
		} else {
			err = r.decide(item)
		}
		if err != nil {
			return err
		}
	}
	if c.List || r.left > 0 {
		return &undecidedError{c.List, r.left}
	}
	return r.noteEmpty()
}

// noteEmpty says what goes on where nothing is left of a commit that git applies: it does not
// continue then, and asks for a forgotten 'git add'.
func (r *conflictRun) noteEmpty() error {
	command := merge.SkipCommand(r.resolver.Repo)
	if command == "" {
		return nil
	}
	staged, err := r.resolver.Repo.StagedPaths(r.ctx)
	if err == nil && len(staged) == 0 {
		r.note("nothing is left of the commit; '%s' goes on", command)
	}
	return err
}

// An undecidedError is conflicts that are left.
type undecidedError struct {
	listed bool
	left   int
}

func (e *undecidedError) Error() string {
	if e.listed {
		return "conflicts are open"
	}
	return render.Count(e.left, "file") + " left undecided"
}

// Undecided says that a person has to decide.
func (*undecidedError) Undecided() bool { return true }

// Hints say how.
func (*undecidedError) Hints() []string {
	return []string{
		"'git jp resolve' asks on a terminal; --ours, --theirs, --both or --fork decide all",
	}
}

func (c resolveCmd) cases(ctx context.Context, a *app) (*conflictRun, []merge.Case, error) {
	w, err := a.workspace()
	if err != nil {
		return nil, nil, err
	}
	repo, err := a.repo(ctx)
	if err != nil {
		return nil, nil, err
	}
	dir, err := a.dirInRepo(w, repo)
	if err != nil {
		return nil, nil, err
	}
	cases, err := merge.Cases(ctx, repo, dir)
	if err != nil {
		return nil, nil, err
	}
	apart, err := merge.Apart(ctx, repo, dir)
	if err != nil {
		return nil, nil, err
	}
	for _, item := range apart {
		if !slices.ContainsFunc(cases, func(c merge.Case) bool { return c.ID == item.ID }) {
			cases = append(cases, item)
		}
	}
	if len(c.Conversation) > 0 {
		ids, err := a.stageIDs(c.Conversation)
		if err != nil {
			return nil, nil, err
		}
		cases = slices.DeleteFunc(cases, func(item merge.Case) bool {
			return !slices.Contains(ids, item.ID)
		})
	}
	r := &conflictRun{
		app: a, cmd: c, ctx: ctx,
		resolver: merge.Resolver{Repo: repo, Workspace: w, Dir: dir, Now: a.now},
		answers:  merge.Answers{Dir: repo.Dir(), Now: a.now},
		stashed:  make(map[events.ID]bool),
	}
	if r.merge, err = merge.NameOf(ctx, repo); err != nil {
		return nil, nil, err
	}
	if r.rerere, err = a.remembers(ctx, repo); err != nil {
		return nil, nil, err
	}
	if !c.Ours && !c.Theirs && !c.Both && !c.Fork && !c.List {
		r.prompter = a.terminal.NewPrompter(ctx)
	}
	return r, cases, nil
}

// remembers reports whether answers of earlier merges count, as git's own do by rerere.enabled.
func (a *app) remembers(ctx context.Context, repo *gitint.Repo) (bool, error) {
	value, ok, err := repo.Config(ctx, "rerere.enabled")
	if err != nil || !ok {
		return true, err
	}
	return !slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(value)), nil
}

// list prints the decisions to make in a file.
func (r *conflictRun) list(item merge.Case) error {
	base := conflictRecord{Path: item.Path, Kind: "unmerged"}
	if item.ID != 0 {
		base.ID, base.Title = item.ID.String(), r.titleOf(item.ID)
	}
	switch {
	case item.Kind == merge.Directories:
		base.Kind = "renamed"
		if err := r.printConflict(base); err != nil || item.Record == nil {
			return err
		}
	case item.Deleted():
		base.Kind = "deleted"
	}
	if _, placed := item.Placed(); placed {
		base.Kind = "moved"
	}
	if item.Record == nil {
		return r.printConflict(base)
	}
	for _, conflict := range item.Record.Conflicts {
		one := base
		one.Kind, one.Turn = string(conflict.Kind), r.turnOf(item, conflict)
		if d, open, _, err := r.answers.Find(conflict, r.merge); err == nil && open {
			one.Answer = string(d.Answer)
		}
		if err := r.printConflict(one); err != nil {
			return err
		}
	}
	return nil
}

func (r *conflictRun) printConflict(c conflictRecord) error {
	if r.JSON {
		return r.printJSON(c)
	}
	line := c.Path + ": " + c.Kind
	if c.Turn > 0 {
		line = fmt.Sprintf("%s: turn %d %s", c.Path, c.Turn, c.Kind)
	}
	if c.Answer != "" {
		line += ", answered " + c.Answer
	}
	_, err := fmt.Fprintln(r.stdout, r.output().Line(line))
	return err
}

// titleOf is "" for a conversation whose metadata cannot be read.
func (a *app) titleOf(id events.ID) string {
	e, err := a.find(id.String())
	if err != nil {
		return ""
	}
	return a.title(e)
}

// turnOf returns the number of the turn that a conflict is about, 0 when it is not there.
func (r *conflictRun) turnOf(item merge.Case, conflict events.Conflict) int {
	s, err := r.resolver.Stream(item)
	if err != nil {
		return 0
	}
	n, ok := s.TurnNamed(conflict.Turn)
	if !ok {
		return 0
	}
	return n + 1
}

// decide decides one file, or counts it as left.
func (r *conflictRun) decide(item merge.Case) error {
	if item.Kind == merge.Directories {
		return r.unite(item)
	}
	if _, placed := item.Placed(); placed {
		return r.place(item)
	}
	if item.Deleted() {
		return r.keep(item)
	}
	if item.Record == nil {
		more, merged, err := r.resolver.Merge(r.ctx, item)
		if errors.Is(err, merge.ErrEdited) {
			r.warn("%v; 'git add' it when it is as it should be", err)
			r.left++
			return nil
		}
		if err != nil {
			return err
		}
		for _, w := range merged.Warnings {
			r.warn("%s: %s", item.Path, w)
		}
		if more == nil {
			r.note("merged %s", item.Path)
			return nil
		}
		item = *more
	}
	decisions, err := r.decisions(item)
	if err != nil {
		return err
	}
	if decisions == nil {
		r.left++
		return nil
	}
	if forks(decisions) {
		if err := r.fork(item); err != nil {
			return err
		}
	}
	if err := r.resolver.Decide(r.ctx, item, decisions); err != nil {
		return err
	}
	r.remember(item.Record.Conflicts, decisions)
	r.note("resolved %s", item.Path)
	return nil
}

// place stages a file of which there is nothing but the place to decide.
func (r *conflictRun) place(item merge.Case) error {
	if err := r.resolver.Place(r.ctx, item); err != nil {
		return err
	}
	r.note("resolved %s", item.Path)
	return nil
}

// keep decides about a file that one side deleted.
func (r *conflictRun) keep(item merge.Case) error {
	stashed, err := merge.Stashed(r.ctx, r.resolver.Repo, r.resolver.Dir, item.ID)
	if err != nil {
		return err
	}
	if stashed != "" {
		if !r.stashed[item.ID] {
			r.stashed[item.ID] = true
			r.warn("%s: not deleted, the stash has %s, which git could not restore; "+
				"after 'git reset --merge', 'git stash branch <name>' restores it to be merged",
				item.ID, stashed)
		}
		r.left++
		return nil
	}
	var keep bool
	switch {
	case r.cmd.Ours:
		keep = !item.DeletedHere()
	case r.cmd.Theirs:
		keep = item.DeletedHere()
	case r.cmd.Both || r.cmd.Fork:
		keep = true
	case r.prompter != nil:
		answer, err := r.ask(item.Path+" was deleted on one side and changed on the other",
			keptWords)
		if err != nil {
			return err
		}
		if answer == "skip" {
			r.left++
			return nil
		}
		keep = answer == "keep"
	default:
		r.left++
		return nil
	}
	if err := r.resolver.Keep(r.ctx, item, keep); err != nil {
		return err
	}
	r.note("%s %s", map[bool]string{true: "kept", false: "deleted"}[keep], item.Path)
	return nil
}

// answer is what the command line says for all conflicts, "" when it says nothing.
func (c resolveCmd) answer() merge.Answer {
	switch {
	case c.Ours:
		return merge.Ours
	case c.Theirs:
		return merge.Theirs
	case c.Both:
		return merge.Both
	case c.Fork:
		return merge.Fork
	default:
		return ""
	}
}

// fork makes a conversation of their side.
func (r *conflictRun) fork(item merge.Case) error {
	theirs, err := events.Decode(item.Record.Theirs)
	if err != nil {
		return fmt.Errorf("fork their side of %s: %w", item.Path, err)
	}
	conv, err := r.load(item.ID.String())
	if err != nil {
		return err
	}
	d := conv.Details.Clone()
	title := strings.TrimSpace(conv.Title() + " (their side)")
	d.Title, d.LastActivatedAt = &title, r.now().UTC()
	e, err := r.openWorkspace.Create(r.ctx, &workspace.NewConversation{
		Details: d, Stream: theirs, BaseConfig: conv.BaseConfig,
		AllowDangling: true, // what their side lacks is no reason to lose it
	})
	if err != nil {
		return err
	}
	if err := r.stage(e.ID); err != nil {
		return fmt.Errorf("stage their side, %s in %s: %w", e.ID, e.Path, err)
	}
	r.note("their side is %s in %s, and staged", e.ID, path.Base(e.Path))
	return nil
}
