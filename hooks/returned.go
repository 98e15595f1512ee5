package hooks

import (
	"context"
	"errors"
	"io/fs"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
)

// warnPicked is warnReturned for a commit at which pre-commit did not look, such as that of a
// cherry-pick or revert without a conflict. After a rebase post-rewrite looks at all of them.
func (r *run) warnPicked(ctx context.Context, hook served) error {
	if hook.Repo.InProgress("rebase-merge") {
		return nil
	}
	went := headMove{"HEAD^", "HEAD"}
	paths, err := hook.Repo.ChangedPaths(ctx, went.from, went.to,
		audit.EveryConversation, audit.EveryRedaction)
	if _, ok := errors.AsType[*gitint.ExitError](err); ok {
		return nil // the first commit brings nothing back
	}
	if err != nil || len(paths) == 0 {
		return err
	}
	return r.warnReturned(ctx, hook, went, paths)
}

// warnReturned warns about text that was redacted and that a command of git brought back, or whose
// entry it removed: a rebase and a fast-forward run no hook that could stop it.
func (r *run) warnReturned(
	ctx context.Context, hook served, went headMove, changed []gitint.StagedPath,
) error {
	if went.to == "" {
		return nil // the hook of its commit looks
	}
	s := leaks.NewScanner(leaks.Options{Dirs: workspacesOf(pathsOf(changed))})
	was, err := gitint.OrNone(hook.Repo.Tree(ctx, went.from))
	if err != nil || was == nil {
		return err
	}
	s.Know(check.Git(hook.Repo, was))
	is, err := hook.Repo.Tree(ctx, went.to)
	if err != nil {
		return err
	}
	index, err := hook.Repo.Index(ctx)
	if err != nil {
		return err
	}
	now := completed{check.Git(hook.Repo, is), index}
	if err := s.Revisit(ctx, now); err != nil {
		return err
	}
	report := &check.Report{}
	s.Report(report)
	removed, err := leaks.RemovedEntries(
		ctx, hook.Repo, changed, leaks.Between{Before: went.from, Now: now.Name()},
		check.Git(hook.Repo, was),
	)
	if err != nil {
		return err
	}
	report.AddAll(removed)
	r.warnNext(hook.checked(report.Findings))
	return nil
}

// A completed source also reads the files that only the index has: the hook staged content that the
// commit lacks.
type completed struct {
	check.Source

	index *gitint.Index
}

// ReadFile implements [check.Source].
func (c completed) ReadFile(name string) ([]byte, error) {
	data, err := c.Source.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return c.index.ReadFile(name)
	}
	return data, err
}
