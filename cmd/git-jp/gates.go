package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool/process"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// approvals opens what the user approved in a workspace; nil when there is no place for it.
func (a *app) approvals(w *workspace.Workspace) (*trust.Approvals, error) {
	return a.approvalsAt(w.Root())
}

// approvalsAt is approvals for a workspace that need not be open.
func (a *app) approvalsAt(root string) (*trust.Approvals, error) {
	dir := a.workspaceEnv(config.Settings{}).StateDir()
	if dir == "" {
		return nil, nil
	}
	file := filepath.Join(root, workspace.DirName, workspace.IDFile)
	data, err := regular.ReadFile(file, regular.MaxNote)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open approvals: %w", err)
	}
	w := trust.Workspace{ID: workspace.ParseWorkspaceID(data), Root: root}
	approvals, err := trust.Open(dir, w)
	if err != nil {
		return nil, err
	}
	approvals.Own = func(name string) bool { return a.committedHere(root, name) }
	return approvals, nil
}

// committedHere reports whether what a file of the workspace holds was committed in this clone.
// Who cannot tell says no: then the user is asked.
func (a *app) committedHere(root, name string) bool {
	ctx := context.Background()
	repo, err := a.repo(ctx)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(repo.Root(), filepath.Join(root, filepath.FromSlash(name)))
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	here, err := repo.CommittedHere(ctx, filepath.ToSlash(rel))
	return err == nil && here
}

// trustGate asks on the terminal about what others wrote.
func (a *app) trustGate(w *workspace.Workspace) (trust.Gate, error) {
	approvals, err := a.approvals(w)
	if errors.Is(err, trust.ErrInside) {
		// The workspace is the home directory, say: what lies there others may have committed.
		return trust.Nobody{}, nil
	}
	if err != nil {
		return nil, err
	}
	if approvals == nil {
		return trust.Nobody{}, nil
	}
	return &trust.Asker{Approvals: approvals, Terminal: a.device, Now: a.now}, nil
}

// launcher starts what was approved, with no key in its environment.
func (a *app) launcher() process.Launcher {
	l := process.Launcher{Env: process.Minimal(a.env), Environ: a.env}
	if a.interrupts != nil {
		l.Groups = &a.interrupts.Groups
	}
	return l
}

// userAgent names this program to servers.
func (a *app) userAgent() string { return "git-jp/" + a.version }

// device opens the terminal. GIT_TERMINAL_PROMPT=0 means to git, and to us, that
// nobody is there to answer.
func (a *app) device() (io.ReadWriteCloser, error) {
	if a.getenv("GIT_TERMINAL_PROMPT") == "0" {
		return nil, errors.New("GIT_TERMINAL_PROMPT is 0")
	}
	return trust.Terminal()
}
