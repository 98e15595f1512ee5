package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/register"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/workspace"
)

type initCmd struct {
	Directory string `arg:"" optional:"" help:"Where; the root of the repository by default."`
	NoHooks   bool   `help:"Do not install the hooks."`
}

// Help says what it makes.
func (initCmd) Help() string {
	return `Makes a workspace: .jp with an id, a .gitignore for temporary files, and a directory for
conversations. An existing one is completed and otherwise left as it is. In a Git
repository hooks and drivers are installed too, as by 'git jp install'.`
}

// initRecord is what `init --json` prints.
type initRecord struct {
	Root    string   `json:"root"`
	Changed []string `json:"changed"`
}

// Run makes or completes a workspace.
func (c initCmd) Run(ctx context.Context, a *app) error {
	repo, err := a.repo(ctx)
	if err != nil && !errors.Is(err, gitint.ErrNotRepository) {
		return err
	}
	inRepo := err == nil
	root, err := initRoot(a, c.Directory, repo)
	if err != nil {
		return err
	}
	config, err := a.configAt("")
	if err != nil {
		return err
	}
	if c.Directory != "" {
		if err := os.MkdirAll(root, 0o777); err != nil {
			return fmt.Errorf("make a workspace: %w", err)
		}
	}
	changed, err := initialize(ctx, a, root, config.Settings())
	if err != nil {
		return err
	}
	if err := c.report(a, root, changed); err != nil {
		return err
	}
	if !inRepo {
		return nil
	}
	if err := installed(ctx, a, repo, register.Request{Drivers: c.NoHooks}); err != nil {
		return err
	}
	if len(changed) > 0 && !a.JSON {
		a.note("commit .jp/.id, .jp/.gitignore and .jp/.gitattributes: every clone needs them")
	}
	return nil
}

// installed installs hooks and drivers for a command that has done its own work. Steps that are
// left to do by hand, as in the files of a hook manager, are a warning there, while 'git jp
// install' fails.
func installed(ctx context.Context, a *app, repo *gitint.Repo, q register.Request) error {
	err := cloneOf(a, repo).Install(ctx, q)
	if isA[*register.OpenError](err) {
		report.Warn(a.stderr, err)
		return nil
	}
	return err
}

// errBare reports that there is no working tree for a workspace.
var errBare error = &situation{
	"a bare repository has no working tree", "'git jp init' in a clone or a worktree makes one",
}

// initRoot returns the root of the new workspace: the directory that was named, an existing
// workspace of the repository above here, its root, or here. repo is nil outside a repository.
func initRoot(a *app, directory string, repo *gitint.Repo) (string, error) {
	here := a.directory()
	switch {
	case filepath.IsAbs(directory):
		return filepath.Clean(directory), nil
	case directory != "":
		return filepath.Join(here, directory), nil
	case repo == nil:
		return here, nil
	case repo.Root() == "":
		return "", fmt.Errorf("make a workspace in %s: %w", here, errBare)
	}
	top := repo.Root()
	// A workspace outside the repository belongs to a project around it.
	if found, err := workspace.Find(here); err == nil && within(top, found) {
		return found, nil
	}
	return top, nil
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	real, err := realDir(path)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(dir, real)
	return err == nil && filepath.IsLocal(below)
}

func (initCmd) report(a *app, root string, changed []string) error {
	if a.JSON {
		return a.printJSON(initRecord{Root: root, Changed: append([]string{}, changed...)})
	}
	switch {
	case a.Quiet:
		return nil
	case len(changed) == 0:
		a.note("%s is a workspace already", root)
	}
	here, err := realDir(a.directory())
	if err != nil {
		return err
	}
	if root, err = realDir(root); err != nil {
		return err
	}
	for _, path := range changed {
		if rel, err := filepath.Rel(here, filepath.Join(root, path)); err == nil {
			path = rel
		}
		if _, err := fmt.Fprintln(a.stdout, a.output().Line("wrote "+path)); err != nil {
			return err
		}
	}
	return nil
}
