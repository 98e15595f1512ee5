package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A checking is one call of check in a repository.
type checking struct {
	app     *app
	repo    *gitint.Repo
	options check.Options
}

func (ch checking) revision(ctx context.Context, rev string) (*check.Report, error) {
	tree, err := ch.repo.Tree(ctx, rev)
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return nil, newRevisionError(ch.repo, "check "+rev+": unknown revision")
	}
	if err != nil {
		return nil, err
	}
	report, err := ch.snapshot(ctx, tree)
	if err != nil {
		return nil, err
	}
	commits, err := ch.repo.Commits(ctx, rev+"^!")
	if _, ok := errors.AsType[*gitint.ExitError](err); ok {
		return report, nil // a tree, which nobody merged
	}
	if err != nil {
		return nil, err
	}
	return report, ch.merges(ctx, report, commits, heads(commits))
}

// snapshot checks the workspaces of a revision or of the index.
func (ch checking) snapshot(ctx context.Context, snap gitint.Snapshot) (*check.Report, error) {
	dirs, err := newDirFinder().find(snap)
	if err != nil {
		return nil, err
	}
	ch.options.Dirs = dirs
	return check.Tree(ctx, check.Git(ch.repo, snap), ch.options)
}

func (ch checking) index(ctx context.Context) (*check.Report, error) {
	index, err := ch.repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	return ch.snapshot(ctx, index)
}

func (ch checking) commits(ctx context.Context, revs []string) (*check.Report, error) {
	commits, err := ch.repo.Commits(ctx, revs...)
	if failed := new(gitint.ExitError); errors.As(err, &failed) && failed.Code == exitFatal {
		return nil, newRevisionError(ch.repo, "check "+strings.Join(revs, " ")+": "+
			strings.TrimPrefix(failed.Stderr, "fatal: "))
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, commit := range commits {
		ids = append(ids, commit.OID.String())
	}
	report, err := ch.several(ctx, ids)
	if err != nil {
		return nil, err
	}
	tips := heads(commits)
	if err := ch.merges(ctx, report, commits, tips); err != nil {
		return nil, err
	}
	squashed, err := ch.repo.Squashed(ctx, revs...)
	if err != nil {
		return nil, err
	}
	if err := ch.squashes(ctx, report, commits, tips, squashed); err != nil {
		return nil, err
	}
	return report, ch.seemingSquashes(ctx, report, commits, tips, squashed)
}

func (ch checking) refs(ctx context.Context) (*check.Report, error) {
	refs, err := ch.repo.Refs(ctx)
	if err != nil {
		return nil, err
	}
	head, err := ch.repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	refs = append(refs, head)
	seen := make(map[gitint.OID]bool)
	var revs []string
	for _, ref := range refs {
		if ref.Peeled.IsZero() || seen[ref.Peeled] {
			continue
		}
		seen[ref.Peeled] = true
		_, err := ch.repo.Tree(ctx, ref.Peeled.String())
		if errors.Is(err, gitint.ErrUnknownRevision) {
			continue // a ref to a blob, such as a tag of a public key
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref.Name, err)
		}
		revs = append(revs, ref.Peeled.String())
	}
	return ch.several(ctx, revs)
}

// several checks many revisions. Their workspaces are looked for first, so that one
// that only some of them have is not missed.
func (ch checking) several(ctx context.Context, revs []string) (*check.Report, error) {
	finder := newDirFinder()
	o := ch.options
	o.Dirs = []string{}
	for _, rev := range revs {
		tree, err := ch.repo.Tree(ctx, rev)
		if err != nil {
			return nil, err
		}
		dirs, err := finder.find(tree)
		if err != nil {
			return nil, err
		}
		o.Dirs = union(o.Dirs, dirs)
	}
	report := o.Progress
	o.Progress = nil // that of a single tree
	return check.Range(ctx, ch.sources(ctx, revs, report), o)
}

// sources opens one revision after the other.
func (ch checking) sources(
	ctx context.Context, revs []string, report func(stage string, done, total int),
) iter.Seq2[check.Source, error] {
	return func(yield func(check.Source, error) bool) {
		for i, rev := range revs {
			report("trees", i, len(revs))
			tree, err := ch.repo.Tree(ctx, rev)
			if err != nil {
				yield(nil, fmt.Errorf("read commit %s: %w", rev, err))
				return
			}
			if !yield(check.Git(ch.repo, tree), nil) {
				return
			}
		}
	}
}

// workTree checks the workspaces of a work tree.
func (ch checking) workTree(ctx context.Context) (*check.Report, error) {
	root := ch.repo.Root()
	report, found, err := filesBelow(ctx, root, ch.options, ch.repo.Limits())
	if err != nil {
		return nil, err
	}
	if around := workspaceAround(root); around != "" {
		found = append(found, around)
	}
	return report, addNested(ctx, report, ch.repo, found)
}

// filesBelow checks the workspaces below a directory, which it returns too.
func filesBelow(
	ctx context.Context, root string, o check.Options, limits regular.Limits,
) (*check.Report, []string, error) {
	roots, err := workspace.FindAll(root)
	if err != nil { // some directories cannot be read: the others are checked
		o.Gaps = append(o.Gaps, check.Gap{Reason: gitint.ReasonUnreadable, Detail: err.Error()})
	}
	o.Dirs = []string{}
	for _, r := range roots {
		rel, err := filepath.Rel(root, filepath.Join(r, workspace.DirName))
		if err != nil {
			return nil, nil, err
		}
		o.Dirs = append(o.Dirs, filepath.ToSlash(rel))
	}
	src, err := check.OpenWorkTree(root, limits)
	if err != nil {
		return nil, nil, err
	}
	report, err := check.Tree(ctx, src, o)
	return report, roots, errors.Join(err, src.Close())
}
