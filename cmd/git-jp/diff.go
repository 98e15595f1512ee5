package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/revisions"
	"github.com/git-jp/git-jp/internal/workspace"
)

type diffCmd struct {
	Conversation string   `arg:"" optional:"" help:"The conversation; the active one by default. A deleted one is named by its id in full."`
	Revision     []string `arg:"" optional:"" help:"One revision to compare with the working tree, or two, also as A..B."`
	Staged       bool     `aliases:"cached" help:"Compare the index with HEAD, or with the revision."`
}

// Help says what is compared.
func (diffCmd) Help() string {
	return `Shows how a conversation changed as people read it, with its content, wherever its
directory was. As with 'git diff', the working tree is compared with the index unless
revisions are given.`
}

// differenceRecord is what `diff --json` prints.
type differenceRecord struct {
	ID    string `json:"id"`
	From  string `json:"from"` // "" when there was none
	To    string `json:"to"`
	Patch string `json:"patch"`
}

// Run compares two states of a conversation.
func (c diffCmd) Run(ctx context.Context, a *app) error {
	places, err := c.places(ctx, a)
	if err != nil {
		return err
	}
	ids, err := a.stageIDs([]string{cmp.Or(c.Conversation, ".")})
	if err != nil {
		return err
	}
	if err := c.fetch(ctx, a, places, ids[0]); err != nil {
		a.warn("%v", err)
	}
	var sides [2]revisions.Side
	for i, p := range places {
		if sides[i], err = c.side(a, p, ids[0]); err != nil {
			return err
		}
	}
	if sides[0].Name == "" && sides[1].Name == "" {
		return fmt.Errorf("compare %s: neither %s nor %s has it", ids[0], places[0], places[1])
	}
	if err := c.print(ctx, a, ids[0], sides); err != nil {
		return err
	}
	return contentProblems(a, append(sides[0].Problems, sides[1].Problems...))
}

func (diffCmd) print(ctx context.Context, a *app, id events.ID, sides [2]revisions.Side) error {
	from, to := sides[0], sides[1]
	patch := udiff.Unified(
		cmp.Or(from.Name, nowhere), cmp.Or(to.Name, nowhere), from.Text, to.Text)
	switch {
	case patch == "":
		return nil
	case a.JSON:
		return a.printJSON(differenceRecord{id.String(), from.Name, to.Name, patch})
	}
	return a.paged(ctx, func(out io.Writer) error {
		_, err := io.WriteString(out, a.output().Patch(patch))
		return err
	})
}

// nowhere is the name of a side that has no such conversation, as in a patch of git.
const nowhere = "/dev/null"

// A place is where a conversation is looked for: a snapshot, or the working tree.
type place struct {
	snapshot gitint.Snapshot // nil for the working tree
	dir      string          // of .jp in the snapshot
}

func (p place) String() string {
	if p.snapshot == nil {
		return "the working tree"
	}
	return p.snapshot.Name()
}

// places returns what is to be compared.
func (c diffCmd) places(ctx context.Context, a *app) (places [2]place, err error) {
	repo, err := a.repo(ctx)
	if err != nil {
		return places, err
	}
	w, err := a.workspace()
	if err != nil {
		return places, err
	}
	dir, err := a.dirInRepo(w, repo)
	if err != nil {
		return places, err
	}
	revs := c.revisions()
	switch {
	case len(revs) > 2, c.Staged && len(revs) > 1:
		return places, usagef("too many revisions: %s", strings.Join(c.Revision, " "))
	case c.Staged && len(revs) == 0:
		revs = []string{"HEAD"}
	}
	for i, rev := range revs {
		tree, err := repo.Tree(ctx, rev)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			return places, audit.NewRevisionError(repo, "compare "+rev+": unknown revision")
		}
		if err != nil {
			return places, err
		}
		places[i] = place{tree, dir}
	}
	if len(revs) == 0 || c.Staged {
		index, err := repo.Index(ctx)
		if err != nil {
			return places, err
		}
		places[len(revs)] = place{index, dir}
	}
	return places, nil
}

// revisions takes ranges apart.
func (c diffCmd) revisions() []string {
	if len(c.Revision) != 1 {
		return c.Revision
	}
	from, to, isRange := strings.Cut(c.Revision[0], "..")
	if !isRange {
		return c.Revision
	}
	return []string{cmp.Or(from, "HEAD"), cmp.Or(to, "HEAD")}
}

// fetch has the conversation as commits and the index have it be here.
func (diffCmd) fetch(ctx context.Context, a *app, places [2]place, id events.ID) error {
	var snaps []gitint.Snapshot
	for _, p := range places {
		if p.snapshot != nil {
			snaps = append(snaps, p.snapshot)
		}
	}
	return revisions.Fetch(ctx, a.openRepo, places[0].dir, id, snaps...)
}

// side reads a conversation; the zero side when the place has none.
func (diffCmd) side(a *app, p place, id events.ID) (side revisions.Side, err error) {
	if p.snapshot != nil {
		side, err = revisions.InSnapshot(a.openWorkspace, p.snapshot, p.dir, id)
	} else {
		var e workspace.Entry
		if e, err = a.find(id.String()); isA[*workspace.NotFoundError](err) {
			return side, nil
		}
		if err == nil {
			side, err = revisions.InWorkingTree(a.openWorkspace, e)
		}
	}
	if errors.Is(err, revisions.ErrLongText) {
		err = &longTextError{err}
	}
	return side, err
}

// A longTextError is about a conversation that is too long to be compared.
type longTextError struct{ error }

func (e *longTextError) Unwrap() error { return e.error }

// Hints say what compares it.
func (*longTextError) Hints() []string { return []string{"'git diff' compares the files"} }
