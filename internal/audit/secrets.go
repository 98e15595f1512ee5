package audit

import (
	"context"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
)

// secrets adds the secrets of a source to a report.
func (a Auditor) secrets(
	ctx context.Context, report *check.Report, dirs []string, src check.Source,
) error {
	s, err := a.scanner(ctx, dirs, nil)
	if err != nil || s == nil {
		return err
	}
	if err := s.Scan(ctx, src); err != nil {
		return err
	}
	s.Report(report)
	return nil
}

// scanner returns a scanner for secrets that are in none of the known revisions, or nil if there is
// nothing to look for.
func (a Auditor) scanner(
	ctx context.Context, dirs, known []string,
) (*leaks.Scanner, error) {
	if a.Secrets == nil {
		return nil, nil
	}
	o := *a.Secrets
	o.Dirs, o.MaxBlobBytes, o.RulesMatter = dirs, a.Options.MaxBlobBytes, true
	s := leaks.NewScanner(o)
	for _, rev := range known {
		tree, err := gitint.OrNone(a.Repo.Tree(ctx, rev))
		if tree != nil && err == nil { // none beyond the boundary of a shallow clone
			err = s.Skip(ctx, check.Git(a.Repo, tree))
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}
