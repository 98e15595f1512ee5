package main

import (
	"context"
	"path/filepath"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A nestedError says that what a workspace keeps may belong to another repository.
type nestedError struct{ at string }

func (e *nestedError) Error() string { return e.at + ": " + nestedSentence }

const nestedSentence = "may be another repository, to which the files of the workspace belong"

// Hints say what to do about it.
func (*nestedError) Hints() []string { return []string{report.NestedHint} }

// refuseNested refuses a workspace of which a part may belong to another repository.
func refuseNested(ctx context.Context, repo *gitint.Repo, w *workspace.Workspace) error {
	at, err := gc.Foreign(ctx, repo, w.Root())
	if err == nil && at != "" {
		err = &nestedError{at: at}
	}
	return err
}

// addNested adds to a report which of the workspaces in a working tree may belong, or belong in
// part, to another repository.
func addNested(
	ctx context.Context, found *check.Report, repo *gitint.Repo, workspaces []string,
) error {
	for _, dir := range workspaces {
		at, err := gc.Foreign(ctx, repo, dir)
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
		rel, err := filepath.Rel(repo.Root(), at)
		if err != nil || !filepath.IsLocal(rel) {
			f.Detail = at + ": " + nestedSentence
			rel, err = filepath.Rel(repo.Root(), filepath.Join(dir, workspace.DirName))
		}
		if err != nil {
			return err
		}
		f.Path = filepath.ToSlash(rel)
		found.Add(f)
	}
	return nil
}

// workspaceAround returns the workspace of which the root of a working tree is a part, "" for
// most: whoever stands in a repository within a .jp has no workspace below.
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
