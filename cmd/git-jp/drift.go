package main

import (
	"context"
	"path"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

// addDrift adds attributes that this clone does not fulfil to a report. That is a warning: it says
// nothing about the commits that are checked, and a clone in CI merges nothing.
func addDrift(ctx context.Context, a *app, repo *gitint.Repo, found *check.Report) error {
	drifts, err := install.UrgentDrifts(ctx, repo, nearDirs(a, repo))
	for _, d := range drifts {
		found.Add(check.Finding{
			State: check.Drift, Commit: check.WorkTreeName,
			Path: path.Join(d.Workspace, ".gitattributes"), Line: 1, Element: -1,
			Detail: d.Sentence(), Next: report.Register,
		})
	}
	return err
}

// warnDrift warns once a workspace that this clone does not merge as its attributes demand.
func (a *app) warnDrift(ctx context.Context, repo *gitint.Repo) error {
	drifts, err := install.UrgentDrifts(ctx, repo, nearDirs(a, repo))
	for _, d := range drifts {
		a.warn("%s: %s; run '%s'", d.Workspace, d.Sentence(), report.Register)
	}
	return err
}

// nearDirs returns the workspace at the root and that of the working directory, as slash paths from
// the root. Looking for all of them takes longer than a check.
func nearDirs(a *app, repo *gitint.Repo) []string {
	if repo.Root() == "" {
		return nil
	}
	dirs := []string{workspace.DirName}
	root, err := a.root()
	if err != nil {
		return dirs
	}
	if root, err = realDir(root); err != nil {
		return dirs
	}
	rel, err := filepath.Rel(repo.Root(), filepath.Join(root, workspace.DirName))
	if err != nil || !filepath.IsLocal(rel) {
		return dirs
	}
	dirs = append(dirs, filepath.ToSlash(rel))
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
