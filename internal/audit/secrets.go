package audit

import (
	"context"
	"errors"
	"iter"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
)

// sourceOf returns a sequence of one source.
func sourceOf(src check.Source) iter.Seq2[check.Source, error] {
	return func(yield func(check.Source, error) bool) { yield(src, nil) }
}

// secrets adds to a report the secrets of sources that are in none of the known revisions.
func (a Auditor) secrets(
	ctx context.Context, report *check.Report, dirs []string,
	known []string, sources iter.Seq2[check.Source, error],
) error {
	if a.Secrets == nil {
		return nil
	}
	o := *a.Secrets
	o.Dirs, o.MaxBlobBytes, o.RulesMatter = dirs, a.Options.MaxBlobBytes, true
	s := leaks.NewScanner(o)
	for _, rev := range known {
		tree, err := a.Repo.Tree(ctx, rev)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			continue // beyond the boundary of a shallow clone
		}
		if err == nil {
			err = s.Skip(ctx, check.Git(a.Repo, tree))
		}
		if err != nil {
			return err
		}
	}
	for src, err := range sources {
		if err == nil {
			err = s.Scan(ctx, src)
		}
		if err != nil {
			return err
		}
	}
	s.Report(report)
	return nil
}
