package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ondemand"
	"github.com/git-jp/git-jp/internal/workspace"
)

// readsCommitted reports whether a command shows conversations and changes nothing, so that in a
// bare repository it reads them in HEAD.
func readsCommitted(command string) bool {
	first, _, _ := strings.Cut(command, " ")
	return slices.Contains([]string{
		"ls", "show", "print", "grep", "diff", "log", "stats", "export", "site",
		"__complete",
	}, first)
}

// openHEAD opens the workspace that HEAD of a bare repository has, for commands that only read.
// Elsewhere it returns the error that none was found.
func openHEAD(a *app, none error) (*workspace.Workspace, error) {
	if !a.readsCommitted || !errors.Is(none, workspace.ErrNoWorkspace) {
		return nil, none
	}
	ctx := context.Background() // as for a workspace on disk
	repo, err := a.repo(ctx)
	if err != nil || !repo.Bare() {
		return nil, none
	}
	tree, err := gitint.OrNone(repo.Tree(ctx, "HEAD"))
	var dirs []string
	if err == nil && tree != nil {
		dirs, err = gitint.NewDirFinder(workspace.DirName).Find(tree)
	}
	switch {
	case err != nil:
		return nil, err
	case len(dirs) == 0:
		return nil, &situation{
			"HEAD of " + repo.GitDir() + " has no workspace",
			"'git jp init' in a clone makes one, which a push brings here",
		}
	case len(dirs) > 1 && !slices.Contains(dirs, workspace.DirName):
		return nil, fmt.Errorf("HEAD of %s has several workspaces: %s",
			repo.GitDir(), strings.Join(dirs, ", "))
	case len(dirs) > 1:
		dirs = []string{workspace.DirName}
	}
	return openTree(ctx, a, tree, dirs[0])
}

// needsFiles returns an error where conversations are read in HEAD, for what a command does only
// with files.
func needsFiles(a *app, what, hint string) error {
	if a.committedIn == "" {
		return nil
	}
	return &situation{what + ": a bare repository has no working tree", hint}
}

// openTree opens the workspace of a tree, and fetches its conversations if they are not here.
func openTree(
	ctx context.Context, a *app, tree *gitint.Tree, dir string,
) (*workspace.Workspace, error) {
	entries, _, err := workspace.Scan(tree, dir)
	if err != nil {
		return nil, err
	}
	places := make([]ondemand.Place, len(entries))
	for i, e := range entries {
		places[i] = ondemand.Place{Entry: e, Snapshot: tree}
	}
	if err := ondemand.Fetch(ctx, a.openRepo, false, places...); err != nil {
		a.warn("%v", err) // what did not arrive is reported where it is read
	}
	root := filepath.Join(a.openRepo.GitDir(), filepath.FromSlash(path.Dir(dir)))
	c, err := a.configAt("")
	if err != nil {
		return nil, err
	}
	source := ondemand.New(a.openRepo, path.Join(dir, blobs.Dir))
	a.onDemand = append(a.onDemand, source)
	env := a.workspaceEnv(c.Settings())
	env.Home, env.Elsewhere = "", source
	w, err := workspace.OpenCommitted(gitint.Sub(tree, dir), root, env)
	if err != nil {
		return nil, err
	}
	a.committedIn = dir
	if a.Verbose {
		a.note("reading %s in HEAD of %s", dir, a.openRepo.GitDir())
	}
	a.closers = append(a.closers, w.Close, func() error {
		warnAbsent(a, source)
		return nil
	})
	return w, nil
}
