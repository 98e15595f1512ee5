package resolve

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Options names the conflicts to resolve, and who decides.
type Options struct {
	Repo      *gitint.Repo
	Workspace *workspace.Workspace
	Dir       string // .jp, from the root of the working tree
	Now       func() time.Time
	PID       int
	Grace     time.Duration // how long copies are kept
	// MaxBlobBytes is the size of the largest blob that is staged.
	MaxBlobBytes int64

	Answer   merge.Answer // for all conflicts, "" to ask about each
	Forget   bool         // forget earlier answers
	Terminal *ask.Terminal
	Prompter *ask.Prompter // nil to ask no questions
	// Refuse reports why a conversation cannot be staged.
	Refuse func(ctx context.Context, repo *gitint.Repo, findings []check.Finding) error
}

// A Run decides the conflicts of one merge.
type Run struct {
	Options

	resolver merge.Resolver
	answers  merge.Answers
	merge    string             // name of git's operation in progress
	rerere   bool               // use answers of earlier merges
	left     int                // number of undecided cases
	byHand   int                // number of those that no answer decides
	kept     []merge.Case       // files that one side deleted and that stay
	stashed  map[events.ID]bool // conversations that were found in a stash and reported
}

// New prepares a run.
func New(ctx context.Context, o Options) (_ *Run, err error) {
	r := &Run{
		Options:  o,
		resolver: merge.Resolver{Repo: o.Repo, Workspace: o.Workspace, Dir: o.Dir, Now: o.Now},
		answers:  merge.Answers{Dir: o.Repo.Dir(), Now: o.Now},
		stashed:  make(map[events.ID]bool),
	}
	if r.merge, err = merge.NameOf(ctx, o.Repo); err != nil {
		return nil, err
	}
	r.rerere, err = remembers(ctx, o.Repo)
	return r, err
}

// remembers reports whether answers of earlier merges are used. Like git's own resolutions that
// depends on rerere.enabled.
func remembers(ctx context.Context, repo *gitint.Repo) (bool, error) {
	value, ok, err := repo.Config(ctx, "rerere.enabled")
	if err != nil || !ok {
		return true, err
	}
	return !slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(value)), nil
}

// Cases returns what there is to decide: unmerged files, and conversations with several
// directories, which count also if they are committed when the conversation is among ids.
func (r *Run) Cases(ctx context.Context, ids ...events.ID) ([]merge.Case, error) {
	cases, err := merge.Cases(ctx, r.Repo, r.Dir)
	if err != nil {
		return nil, err
	}
	apart, err := merge.Apart(ctx, r.Repo, r.Dir, ids...)
	for _, item := range apart {
		if !slices.ContainsFunc(cases, func(c merge.Case) bool { return c.ID == item.ID }) {
			cases = append(cases, item)
		}
	}
	return cases, err
}

// NoteNothing says that nothing is in conflict in this workspace, or in which others something is.
func (r *Run) NoteNothing(ctx context.Context) error {
	index, err := r.Repo.Index(ctx)
	if err != nil {
		return err
	}
	others := merge.Unmerged(index)
	others = slices.DeleteFunc(others, func(dir string) bool { return dir == r.Dir })
	for _, dir := range others {
		r.note("%s is in conflict: run this command there", dir)
	}
	if len(others) == 0 {
		r.note("nothing is in conflict")
	}
	return nil
}

// Undecided returns an [*UndecidedError] if cases are left.
func (r *Run) Undecided() error {
	if r.left == 0 {
		return nil
	}
	return &UndecidedError{Left: r.left, ByHand: r.byHand == r.left}
}

// A Conflict is a decision to make, as JSON.
type Conflict struct {
	ID    string `json:"id"` // of the conversation, "" for a blob
	Title string `json:"title"`
	Path  string `json:"path"`
	// Kind is edited, continued or removed for a turn; deleted for a file that one side deleted;
	// unmerged for a file for which no driver ran; renamed for a conversation whose directory each
	// side renamed differently.
	Kind string `json:"kind"`
	Turn int    `json:"turn"` // counted from 1; 0 if it is about the file
	// Answer is the answer that was already given in this merge, while other conflicts are
	// undecided.
	Answer string `json:"answer,omitempty"`
}

// String describes the conflict in one line.
func (c Conflict) String() string {
	line := c.Path + ": " + c.Kind
	if c.Turn > 0 {
		line = fmt.Sprintf("%s: turn %d %s", c.Path, c.Turn, c.Kind)
	}
	if c.Answer != "" {
		line += ", answered " + c.Answer
	}
	return line
}

// Print prints the decisions to make in a case.
func (r *Run) Print(item merge.Case) error {
	for _, c := range r.List(item) {
		var err error
		if r.Terminal.JSON {
			err = r.Terminal.Records(c)
		} else {
			err = r.Terminal.Line(c.String())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An UndecidedError reports conflicts that are left.
type UndecidedError struct {
	Listed bool // no questions were asked
	ByHand bool // no answer decides them
	Left   int
}

// Error implements error.
func (e *UndecidedError) Error() string {
	if e.Listed {
		return "conflicts are open"
	}
	return render.Count(e.Left, "file") + " left undecided"
}

// Undecided reports that a person has to decide.
func (*UndecidedError) Undecided() bool { return true }

// Hints returns the commands that decide, unless that was said of each conflict.
func (e *UndecidedError) Hints() []string {
	if e.ByHand {
		return nil
	}
	return []string{
		"'git jp resolve' asks on a terminal; --ours, --theirs, --both or --fork decide all",
	}
}

// List returns the decisions to make in a case.
func (r *Run) List(item merge.Case) (all []Conflict) {
	base := Conflict{Path: item.Path, Kind: "unmerged"}
	if item.ID != 0 {
		base.ID, base.Title = item.ID.String(), r.titleOf(item.ID)
	}
	switch {
	case item.Kind == merge.Directories:
		base.Kind = "renamed"
		if all = append(all, base); item.Record == nil {
			return all
		}
	case item.Deleted():
		base.Kind = "deleted"
	}
	if _, placed := item.Placed(); placed {
		base.Kind = "moved"
	}
	if item.Record == nil {
		return append(all, base)
	}
	for _, conflict := range item.Record.Conflicts {
		one := base
		one.Kind, one.Turn = string(conflict.Kind), r.turnOf(item, conflict)
		if d, open, _, err := r.answers.Find(conflict, r.merge); err == nil && open {
			one.Answer = string(d.Answer)
		}
		all = append(all, one)
	}
	return all
}

// titleOf returns "" for a conversation whose metadata cannot be read.
func (r *Run) titleOf(id events.ID) string {
	e, err := r.find(id)
	if err != nil {
		return ""
	}
	return r.Workspace.Title(e)
}

func (r *Run) find(id events.ID) (workspace.Entry, error) {
	return r.Workspace.Find(id.String(), workspace.FindOptions{
		ListOptions: workspace.ListOptions{Archived: true, Local: true},
	})
}

func (r *Run) note(format string, args ...any) { r.Terminal.Note(format, args...) }
func (r *Run) warn(format string, args ...any) { r.Terminal.Warn(format, args...) }

// NoteEmpty prints the command that continues if nothing is left of a commit that git applies: git
// then refuses to continue and suggests a forgotten 'git add'.
func (r *Run) NoteEmpty(ctx context.Context) error {
	command := merge.SkipCommand(r.Repo)
	if command == "" {
		return nil
	}
	staged, err := r.Repo.StagedPaths(ctx)
	if err == nil && len(staged) == 0 {
		r.note("the commit is now empty; '%s' skips it", command)
	}
	return err
}

// turnOf returns the number of the turn that a conflict is about, or 0 if it does not exist.
func (r *Run) turnOf(item merge.Case, conflict threeway.Conflict) int {
	s, err := r.resolver.Stream(item)
	if err != nil {
		return 0
	}
	n, ok := threeway.TurnNamed(s, conflict.Turn)
	if !ok {
		return 0
	}
	return n + 1
}

// Decide decides one file, or counts it as left.
func (r *Run) Decide(ctx context.Context, item merge.Case) error {
	switch item.Kind {
	case merge.Directories:
		return r.unite(ctx, item)
	case merge.Beside:
		return r.beside(ctx, item)
	default:
	}
	if _, placed := item.Placed(); placed {
		return r.place(ctx, item)
	}
	if item.Deleted() {
		return r.keep(ctx, item)
	}
	if item.Record == nil {
		more, merged, err := r.resolver.Merge(ctx, item)
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
	decisions, err := r.decisions(ctx, item)
	if err != nil {
		return err
	}
	if decisions == nil {
		r.left++
		return nil
	}
	if forks(decisions) {
		if err := r.fork(ctx, item); err != nil {
			return err
		}
	}
	if err := r.resolver.Decide(ctx, item, decisions); err != nil {
		return err
	}
	r.remember(item.Record.Conflicts, decisions)
	r.note("resolved %s", item.Path)
	return nil
}

// beside decides about a file beside conversations.
func (r *Run) beside(ctx context.Context, item merge.Case) error {
	err := r.resolver.DecideBeside(ctx, item)
	if errors.Is(err, merge.ErrDamaged) {
		r.warn("%v; to remove it, run: git rm -q -- %s", err, check.Pathspec(item.Path))
		r.left++
		r.byHand++
		return nil
	}
	if err == nil {
		r.note("resolved %s", item.Path)
	}
	return err
}

// place stages a file if only its path is undecided.
func (r *Run) place(ctx context.Context, item merge.Case) error {
	if err := r.resolver.Place(ctx, item); err != nil {
		return err
	}
	r.note("resolved %s", item.Path)
	return nil
}

// keep decides about a file that one side deleted.
func (r *Run) keep(ctx context.Context, item merge.Case) error {
	stashed, err := merge.Stashed(ctx, r.Repo, r.Dir, item.ID)
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
	case r.Answer == merge.Ours:
		keep = !item.DeletedHere()
	case r.Answer == merge.Theirs:
		keep = item.DeletedHere()
	case r.Answer != "":
		keep = true
	case r.Prompter != nil:
		answer, err := r.ask(ctx, item.Path+" was deleted on one side and changed on the other",
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
	if err := r.resolver.Keep(ctx, item, keep); err != nil {
		return err
	}
	if keep {
		r.kept = append(r.kept, item)
	}
	r.note("%s %s", map[bool]string{true: "kept", false: "deleted"}[keep], item.Path)
	return nil
}

// fork creates a conversation of their side.
func (r *Run) fork(ctx context.Context, item merge.Case) error {
	theirs, err := events.Decode(item.Record.Theirs)
	if err != nil {
		return fmt.Errorf("fork their side of %s: %w", item.Path, err)
	}
	e, err := r.find(item.ID)
	if err != nil {
		return err
	}
	conv, err := r.Workspace.Load(e)
	if err != nil {
		return err
	}
	d := conv.Details.Clone()
	title := strings.TrimSpace(conv.Title() + " (their side)")
	d.Title, d.LastActivatedAt = &title, r.Now().UTC()
	e, err = r.Workspace.Create(ctx, &workspace.NewConversation{
		Details: d, Stream: theirs, BaseConfig: conv.BaseConfig,
		AllowDangling: true, // missing blobs are no reason to lose their side
	})
	if err != nil {
		return err
	}
	if err := r.stage(ctx, e.ID); err != nil {
		return fmt.Errorf("stage their side, %s in %s: %w", e.ID, e.Path, err)
	}
	r.note("their side is %s in %s, and staged", e.ID, path.Base(e.Path))
	return nil
}
