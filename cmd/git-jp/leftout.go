package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/workspace"
)

// leftOutIn returns a function that returns the files of the workspace at root that a sparse
// checkout leaves out.
func leftOutIn(a *app, root string) func() (workspace.LeftOutFiles, error) {
	return func() (workspace.LeftOutFiles, error) {
		ctx := context.Background() // the index is read
		repo, err := a.repo(ctx)
		if err != nil || repo.Root() == "" {
			return &gitint.LeftOut{}, nil //nolint:nilerr // git could commit nothing either
		}
		store, ok := storeIn(repo, root)
		if !ok {
			return &gitint.LeftOut{}, nil
		}
		blobs := []byte(store + "/")
		return repo.LeftOut(ctx, path.Dir(path.Dir(store)), func(path []byte) bool {
			return !bytes.HasPrefix(path, blobs)
		})
	}
}

// refuseLeftOut returns an error if a sparse checkout leaves out one of the files of the workspace
// at root that every workspace has: a new one would replace it in the next commit.
func refuseLeftOut(a *app, root string) error {
	left, err := leftOutIn(a, root)()
	for _, name := range workspace.OwnFiles() {
		name = path.Join(workspace.DirName, name)
		if err == nil && slices.Contains(left.Names(), name) {
			err = &workspace.LeftOutError{Path: name}
		}
	}
	return err
}

// initialize makes or completes the workspace at root, for 'git jp init' and for a question that
// begins without one. It returns what it changed.
func initialize(ctx context.Context, a *app, root string, s config.Settings) ([]string, error) {
	if err := refuseLeftOut(a, root); err != nil {
		return nil, fmt.Errorf("make a workspace: %w", err)
	}
	env := a.workspaceEnv(s)
	env.InGit = inGit(ctx, a, root)
	return workspace.Init(root, env)
}

// inGit returns a function that reads a file of the workspace at root from the index, or from HEAD
// if the index has none. It is false if neither has it.
func inGit(
	ctx context.Context, a *app, root string,
) func(name string) (data []byte, ok bool, err error) {
	return func(name string) ([]byte, bool, error) {
		repo, err := a.repo(ctx)
		if errors.Is(err, gitint.ErrNotRepository) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		store, ok := storeIn(repo, root)
		if !ok || repo.Root() == "" {
			return nil, false, nil
		}
		name = path.Join(path.Dir(path.Dir(store)), name)
		index, err := repo.IndexWhere(ctx, func(path []byte, _ gitint.Mark) bool {
			return string(path) == name
		})
		if err != nil {
			return nil, false, err
		}
		if _, ok := index.OID(name); ok {
			data, err := index.ReadFile(name)
			return data, true, err
		}
		tree, err := gitint.OrNone(repo.Tree(ctx, "HEAD"))
		if err != nil || tree == nil {
			return nil, false, err
		}
		if _, ok := tree.OID(name); !ok {
			return nil, false, nil
		}
		data, err := tree.ReadFile(name)
		return data, true, err
	}
}
