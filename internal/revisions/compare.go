package revisions

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/aymanbagabas/go-udiff"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Comparison compares two versions of a conversation.
type Comparison struct {
	Repo      *gitint.Repo
	Workspace *workspace.Workspace
	Dir       string    // .jp, from the root of the repository
	ID        events.ID // of the conversation
	// Find finds a conversation in the working tree.
	Find func(name string) (workspace.Entry, error)
	// Problem is called with the errors of fetching content.
	Problem func(error)
}

// A Difference holds the changes from one side to the other. A side has no name if it lacks the
// conversation.
type Difference struct {
	ID    string `json:"id"`
	From  string `json:"from"`
	To    string `json:"to"`
	Patch string `json:"patch"` // "" if there is none
}

// A Place is where a version of a conversation is read.
type Place struct {
	snapshot gitint.Snapshot // nil for the working tree
	unborn   bool            // HEAD without a commit
}

// String returns the name of the place.
func (p Place) String() string {
	switch {
	case p.unborn:
		return "HEAD"
	case p.snapshot == nil:
		return "the working tree"
	}
	return p.snapshot.Name()
}

// Range returns the revisions given by arguments, of which a single one may be a range, of three
// dots for what the second revision has since it left the first.
func (c Comparison) Range(ctx context.Context, args []string) ([]string, error) {
	if len(args) != 1 {
		return args, nil
	}
	ends, ok := gitint.ParseRange(args[0])
	if !ok {
		return args, nil
	}
	from, to := cmp.Or(ends.From, "HEAD"), cmp.Or(ends.To, "HEAD")
	if ends.Fork {
		fork, err := c.Repo.MergeBase(ctx, from, to)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", args[0], err)
		}
		from = fork.String()
	}
	return []string{from, to}, nil
}

// Places returns the two places to compare: two revisions, one with the working tree, or the index
// with the working tree; or, if staged is set, HEAD or a revision with the index.
func (c Comparison) Places(
	ctx context.Context, revs []string, staged bool,
) (places [2]Place, err error) {
	implied := staged && len(revs) == 0
	if implied {
		revs = []string{"HEAD"}
	}
	for i, rev := range revs {
		tree, err := c.Repo.Tree(ctx, rev)
		if implied && errors.Is(err, gitint.ErrUnknownRevision) {
			places[i] = Place{unborn: true} // as for git, everything is added
			continue
		}
		if errors.Is(err, gitint.ErrUnknownRevision) {
			return places, audit.NewRevisionError(c.Repo, "compare "+rev+": unknown revision")
		}
		if err != nil {
			return places, err
		}
		places[i] = Place{snapshot: tree}
	}
	if len(revs) == 0 || staged {
		index, err := c.Repo.Index(ctx)
		if err != nil {
			return places, err
		}
		places[len(revs)] = Place{snapshot: index}
	}
	return places, nil
}

// Between compares the conversation in two places. The problems report content that could not be
// read.
func (c Comparison) Between(
	ctx context.Context, places [2]Place,
) (d Difference, problems []render.Problem, err error) {
	d.ID = c.ID.String()
	if err := c.fetch(ctx, places); err != nil {
		c.Problem(err)
	}
	var sides [2]Side
	for i, p := range places {
		if sides[i], err = c.side(p); err != nil {
			return d, nil, err
		}
	}
	from, to := sides[0], sides[1]
	if from.Name == "" && to.Name == "" {
		return d, nil, fmt.Errorf(
			"compare %s: neither %s nor %s has it", c.ID, places[0], places[1])
	}
	d.From, d.To = from.Name, to.Name
	label := func(s Side) string { return render.Output{}.Line(cmp.Or(s.Name, nowhere)) }
	d.Patch = udiff.Unified(label(from), label(to), from.Text, to.Text)
	return d, append(from.Problems, to.Problems...), nil
}

// nowhere is the name of a side without the conversation, as in a patch by git.
const nowhere = "/dev/null"

// fetch fetches the conversation as in commits and in the index.
func (c Comparison) fetch(ctx context.Context, places [2]Place) error {
	var snaps []gitint.Snapshot
	for _, p := range places {
		if p.snapshot != nil {
			snaps = append(snaps, p.snapshot)
		}
	}
	return Fetch(ctx, c.Repo, c.Dir, c.ID, snaps...)
}

// side reads the conversation. It returns the zero side if the place does not have it.
func (c Comparison) side(p Place) (Side, error) {
	switch {
	case p.unborn:
		return Side{}, nil
	case p.snapshot != nil:
		return InSnapshot(c.Workspace, p.snapshot, c.Dir, c.ID)
	}
	e, err := c.Find(c.ID.String())
	if _, gone := errors.AsType[*workspace.NotFoundError](err); gone {
		return Side{}, nil
	}
	if err != nil {
		return Side{}, err
	}
	return InWorkingTree(c.Workspace, e)
}
