package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/question"
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
		err = fmt.Errorf("%w: %w", err, &situation{
			errBare.Error(), "commands that only read show the conversations of HEAD here; " +
				"for the others: git worktree add <path>",
		})
	}
	if errors.Is(err, workspace.ErrNoWorkspace) {
		if left := leftOut(a); left != nil {
			err = fmt.Errorf("%w: %w", err, left)
		}
	}
	return report.Print(a.stderr, err)
}

// isBare reports whether this is a repository without a place for a workspace.
func isBare(a *app) bool {
	repo, err := a.repo(context.Background()) // the error may come from a cancelled context
	return err == nil && repo.Bare()
}

// leftOut returns what to do if a sparse checkout leaves out the workspace, nil otherwise.
func leftOut(a *app) *situation {
	ctx := context.Background() // as for isBare
	repo, err := a.repo(ctx)
	var left *gitint.LeftOut
	if err == nil && !repo.Bare() {
		left, err = repo.LeftOut(ctx, ".", func(name []byte) bool {
			dir, base := path.Split(string(name))
			return base == workspace.IDFile && path.Base(dir) == workspace.DirName
		})
	}
	if err != nil || left == nil || len(left.Names()) == 0 {
		return nil //nolint:nilerr // then no workspace is known
	}
	dir, git := path.Dir(left.Names()[0]), "git"
	if a.directory() != repo.Root() {
		git = "git -C " + check.ShellQuote(repo.Root())
	}
	return &situation{
		"the sparse checkout leaves out " + dir,
		git + " sparse-checkout add " + check.ShellQuote(dir),
	}
}

// An unmergedFileError is about a file that cannot be loaded because git left it unmerged.
type unmergedFileError struct {
	error
	id events.ID
}

func (e *unmergedFileError) Unwrap() error { return e.error }

// Hints returns the command that finishes the merge.
func (e *unmergedFileError) Hints() []string { return []string{check.Resolve(e.id.String())} }

// unmergedAt reports whether git left a file of the workspace unmerged, and the conversation that
// the file belongs to.
func unmergedAt(a *app, name string) (events.ID, bool) {
	if !strings.HasPrefix(name, workspace.DirName+"/") {
		return 0, false // a copy in the user's own data
	}
	id, ok := workspace.PathID(name)
	ctx := context.Background() // the error may come from a cancelled context
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

// warnUnmerged warns that a turn is added to one side of a conversation that git left unmerged.
func warnUnmerged(a *app, t *question.Target) {
	if t.Hold == nil {
		return
	}
	name := path.Join(t.Hold.Conversation().Path, workspace.EventsFile)
	if id, ok := unmergedAt(a, name); ok {
		a.warn("%s is unmerged: the turn is added to our side; %s resolves it", id,
			check.Resolve(id.String()))
	}
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// usagef returns the error for a command line that could not be parsed.
func usagef(format string, args ...any) error { return report.Usagef(format, args...) }
