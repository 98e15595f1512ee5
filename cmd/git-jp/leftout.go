package main

import (
	"context"
	"path"
	"slices"

	"github.com/git-jp/git-jp/internal/workspace"
)

// leftOutIn returns a function that lists the files of the workspace at root that a sparse checkout
// leaves out.
func leftOutIn(a *app, root string) func() ([]string, error) {
	return func() ([]string, error) {
		ctx := context.Background() // the index is read
		repo, err := a.repo(ctx)
		if err != nil || repo.Root() == "" {
			return nil, nil //nolint:nilerr // git could commit nothing either
		}
		store, ok := storeIn(repo, root)
		if !ok {
			return nil, nil
		}
		return repo.LeftOut(ctx, path.Dir(path.Dir(store)), store)
	}
}

// refuseLeftOut returns an error if a sparse checkout leaves out one of the files of the workspace
// at root that every workspace has: a new one would replace it in the next commit.
func refuseLeftOut(a *app, root string) error {
	left, err := leftOutIn(a, root)()
	for _, name := range []string{workspace.IDFile, ".gitignore", ".gitattributes"} {
		name = path.Join(workspace.DirName, name)
		if err == nil && slices.Contains(left, name) {
			err = &workspace.LeftOutError{Path: name}
		}
	}
	return err
}
