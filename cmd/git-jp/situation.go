package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A situation is an error with what the user can do about it.
type situation struct{ text, hint string }

func (s *situation) Error() string { return s.text }

// Hints returns the one hint.
func (s *situation) Hints() []string { return []string{s.hint} }

// report prints an error and returns the exit code.
func (a *app) report(err error) int {
	if syntax := new(events.SyntaxError); errors.As(err, &syntax) && a.openWorkspace != nil {
		if id, ok := unmergedAt(a, syntax.Path); ok {
			err = &unmergedFileError{err, id}
		}
	}
	if errors.Is(err, workspace.ErrNoWorkspace) && isBare(a) {
		err = fmt.Errorf("%w: %w", err, errBare)
	}
	return report.Print(a.stderr, err)
}

// isBare reports whether we are in a repository that no workspace can be made in.
func isBare(a *app) bool {
	repo, err := a.repo(context.Background()) // what is reported may be the end of another
	return err == nil && repo.Root() == ""
}

// An unmergedFileError is about a file that cannot be loaded because git left it unmerged.
type unmergedFileError struct {
	error
	id events.ID
}

func (e *unmergedFileError) Unwrap() error { return e.error }

// Hints name what finishes the merge.
func (e *unmergedFileError) Hints() []string { return []string{check.Resolve(e.id.String())} }

// unmergedAt reports whether git left a file of the workspace unmerged, and of which conversation.
func unmergedAt(a *app, name string) (events.ID, bool) {
	if !strings.HasPrefix(name, workspace.DirName+"/") {
		return 0, false // a copy in the user's own data
	}
	id, ok := workspace.PathID(name)
	ctx := context.Background() // what is reported may be the end of another
	repo, err := a.repo(ctx)
	if !ok || err != nil || repo.Root() == "" {
		return 0, false
	}
	dir, err := a.dirInRepo(a.openWorkspace, repo)
	if err != nil {
		return 0, false
	}
	return id, report.IsUnmerged(ctx, repo, path.Join(path.Dir(dir), name))
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// usagef is the error of a command line that could not be understood.
func usagef(format string, args ...any) error { return report.Usagef(format, args...) }
