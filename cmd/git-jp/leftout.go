package main

import (
	"bytes"
	"context"
	"path"
	"slices"

	"github.com/git-jp/git-jp/gitint"
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
	for _, name := range []string{workspace.IDFile, ".gitignore", ".gitattributes"} {
		name = path.Join(workspace.DirName, name)
		if err == nil && slices.Contains(left.Names(), name) {
			err = &workspace.LeftOutError{Path: name}
		}
	}
	return err
}
