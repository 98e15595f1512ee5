package main

import (
	"path/filepath"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A nestedError says that what a workspace keeps may belong to another repository.
type nestedError struct{ at string }

func (e *nestedError) Error() string { return e.at + ": " + nestedSentence }

const nestedSentence = "may be another repository, to which the files of the workspace belong"

// nestedHint says what to do about it.
const nestedHint = "move the .git out of the workspace, or the workspace to where it belongs"

// refuseNested refuses a workspace of which a part may belong to another repository.
func refuseNested(repo *gitint.Repo, w *workspace.Workspace) error {
	root, err := realDir(w.Root())
	if err != nil {
		return err
	}
	at, err := workspace.Boundary(repo.Root(), root)
	if err == nil && at != "" {
		err = &nestedError{at: at}
	}
	return err
}

// addNested adds to a report which of the workspaces below root may belong, or belong in part, to
// another repository.
func addNested(report *check.Report, root string, workspaces []string) error {
	for _, dir := range workspaces {
		at, err := workspace.Boundary(root, dir)
		if err != nil {
			return err
		}
		if at == "" {
			continue
		}
		rel, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		report.Add(check.Finding{
			State: check.Foreign, Severity: check.Error, Commit: check.WorkTreeName,
			Path: filepath.ToSlash(rel), Line: 1, Element: -1, Detail: nestedSentence,
		})
	}
	return nil
}
