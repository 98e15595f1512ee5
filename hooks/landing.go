package hooks

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A landing is the commit on which a command of git ended.
type landing struct {
	// sides are the commits that it brought together, nil unless there are two.
	sides *merge.Sides
	head  gitint.OID // zero after merge --squash, which makes no commit
	// made says that the command made the commit: a fast-forward makes none. tidy says that
	// nothing else is staged or changed in the working tree.
	made, tidy bool
}

func (r *run) landing(ctx context.Context, repo *gitint.Repo, went headMove) (landing, error) {
	var at landing
	if went.to == "" {
		all, err := merge.Underway(ctx, repo)
		if err == nil && len(all) == 2 {
			at.sides, err = merge.SidesBetween(ctx, repo, all[0], all[1])
		}
		return at, err
	}
	from, err := repo.Resolve(ctx, went.from)
	if err == nil {
		at.head, err = repo.Resolve(ctx, went.to)
	}
	if err == nil && r.name == "post-rewrite" {
		at.made = true
		at.sides, err = merge.SidesBetween(ctx, repo, from, at.head)
	} else if err == nil {
		var parents []gitint.OID
		parents, err = repo.Parents(ctx, at.head)
		at.made = len(parents) > 1 && parents[0] == from
		if err == nil && at.made && len(parents) == 2 {
			at.sides, err = merge.SidesBetween(ctx, repo, from, parents[1])
		}
	}
	if err != nil || !at.made {
		return at, err
	}
	at.tidy, err = repo.IsTidy(ctx)
	return at, err
}

// settleStaged puts what a hook has staged into the commit that the command made. If others may
// have that commit, or it would include unrelated changes, settleStaged reports that the fix waits
// for a commit.
func (r *run) settleStaged(ctx context.Context, repo *gitint.Repo, at landing) error {
	others, published, err := spread(ctx, repo, at)
	if err != nil {
		return err
	}
	if at.tidy && !others {
		_, err := repo.ReplaceTree(ctx, at.head, "git jp: unite conversations")
		if err == nil {
			r.Note("git jp: it is in the commit")
			return nil
		}
		if !errors.Is(err, gitint.ErrSigned) {
			return err
		}
	}
	switch {
	case !at.made || published:
		r.Note("git jp: it is staged; 'git commit' completes it")
	default:
		r.Note("git jp: it is staged; 'git commit --amend --no-edit' puts it into the commit")
	}
	return nil
}

// spread reports whether anything but the branch that is checked out leads to the commit, and
// whether a remote has it as far as this clone knows.
func spread(
	ctx context.Context, repo *gitint.Repo, at landing,
) (others, published bool, err error) {
	if !at.made {
		return true, false, nil
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return true, true, err
	}
	names, err := repo.RefsWith(ctx, at.head)
	for _, name := range names {
		others = others || name != head.Target
		published = published || strings.HasPrefix(name, "refs/remotes/")
	}
	return others, published, err
}

// noteArchived reports the conversations that one side archived and the other continued: the new
// turns are in the archive too.
func (r *run) noteArchived(
	ctx context.Context, hook served, at landing, paths []gitint.StagedPath,
) error {
	if at.sides == nil || at.sides.Base.IsZero() || at.head.IsZero() {
		return nil
	}
	for _, p := range paths {
		id, known := events.ParseDirname(path.Base(path.Dir(p.Path)))
		dir, ok := workspace.PathDir(p.Path)
		if !ok || !known || path.Base(p.Path) != workspace.EventsFile || !p.NewMode.IsRegular() {
			continue
		}
		is, err := merge.ArchivedApart(ctx, hook.Repo, at.sides, merge.Place{
			Dir: dir, ID: id, In: []string{path.Dir(p.Path)},
		})
		if err != nil {
			return err
		}
		if is {
			r.Note("git jp: %s is archived: one side archived it and the other went on; "+
				"'git jp unarchive %s' takes it out", id, id)
		}
	}
	return nil
}
