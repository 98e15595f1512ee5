package audit

import (
	"context"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Options returns options with the values that all sources of a repository share: the gaps in its
// history or objects, and Git LFS content. A shallow boundary only matters for a range: a tree is
// complete or missing.
func Options(
	ctx context.Context, repo *gitint.Repo, o check.Options, ranged bool,
) (check.Options, error) {
	lazy, err := repo.Lazy(ctx)
	if err != nil {
		return o, err
	}
	for _, i := range repo.Incomplete() {
		if i.Reason != gitint.ReasonShallow || ranged {
			o.Gaps = append(o.Gaps, check.Gap{
				Reason: i.Reason, Detail: i.Detail, Meant: lazy && i.Reason == gitint.ReasonPartial,
			})
		}
	}
	lfs := filepath.Join(repo.CommonDir(), "lfs", "objects")
	if info, err := os.Stat(lfs); err == nil && info.IsDir() {
		o.LFS = regular.Dir(lfs)
	}
	return o, nil
}

// WorkTree checks the workspaces in the files of the working tree, and whether they, or parts of
// them, belong to another repository.
func (a Auditor) WorkTree(ctx context.Context) (*check.Report, error) {
	root := a.Repo.Root()
	left, err := check.LeftOutOf(ctx, a.Repo, root)
	if err != nil {
		return nil, err
	}
	a.Options.LeftOut = left
	if a.Secrets != nil {
		o := *a.Secrets
		o.LeftOut = leaks.LeftOutOf(ctx, a.Repo)
		a.Secrets = &o
	}
	report, found, err := FilesBelow(ctx, root, a.Options, a.Repo.Limits(), a.Secrets)
	if err != nil {
		return nil, err
	}
	if around := workspaceAround(root); around != "" {
		found = append(found, around)
	}
	return report, a.nested(ctx, report, found)
}

// A NestedError reports that files of a workspace may belong to another repository.
type NestedError struct{ At string }

// Error implements error.
func (e *NestedError) Error() string { return e.At + ": " + nestedSentence }

const nestedSentence = "may be another repository, to which the files of the workspace belong"

// RefuseNested returns a [*NestedError] for a workspace if a part of it may belong to another
// repository.
func RefuseNested(ctx context.Context, repo *gitint.Repo, w *workspace.Workspace) error {
	at, err := gc.Foreign(ctx, repo, w.Root())
	if err == nil && at != "" {
		err = &NestedError{at}
	}
	return err
}

// nested adds a finding for each workspace that may belong, completely or in part, to another
// repository.
func (a Auditor) nested(ctx context.Context, report *check.Report, workspaces []string) error {
	for _, dir := range workspaces {
		at, err := gc.Foreign(ctx, a.Repo, dir)
		if err != nil {
			return err
		}
		if at == "" {
			continue
		}
		f := check.Finding{
			State: check.Foreign, Severity: check.Error, Commit: check.WorkTreeName,
			Line: 1, Element: -1, Detail: nestedSentence,
		}
		rel, err := filepath.Rel(a.Repo.Root(), at)
		if err != nil || !filepath.IsLocal(rel) {
			f.Detail = at + ": " + nestedSentence
			rel, err = filepath.Rel(a.Repo.Root(), filepath.Join(dir, workspace.DirName))
		}
		if err != nil {
			return err
		}
		f.Path = filepath.ToSlash(rel)
		report.Add(f)
	}
	return nil
}

// workspaceAround returns the workspace that contains the root of a working tree, usually "": a
// repository inside a .jp has no workspace below it.
func workspaceAround(root string) string {
	dir, err := workspace.Find(root)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(filepath.Join(dir, workspace.DirName), root)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return dir
}
