package gc

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Foreign returns evidence that the files of the workspace at root may belong to another repository
// than repo, or to another of its working trees; "" if there is none. It is the path of a ".git" on
// the way to them, of the repository that git finds from inside the store, or of a submodule in the
// index on that way. The references in the history of the other repository are unknown here.
func Foreign(ctx context.Context, repo *gitint.Repo, root string) (string, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	at, err := workspace.Boundary(repo.Root(), root)
	if err != nil || at != "" {
		return at, err
	}
	inside := filepath.Join(root, workspace.DirName)
	if store := filepath.Join(inside, blobsName); isDirectory(store) {
		inside = store
	}
	at, err = repo.OwnerOf(ctx, inside)
	if err != nil || at != "" {
		return at, err
	}
	return submodule(ctx, repo, inside), nil
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// submodule returns the path of the submodule in the index that contains a directory. Its git
// directory stays in that of the project when its ".git" is removed. An unreadable index counts as
// having none here: it stops the collector elsewhere.
func submodule(ctx context.Context, repo *gitint.Repo, dir string) string {
	rel, err := filepath.Rel(repo.Root(), dir)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	below := []byte(filepath.ToSlash(rel) + "/")
	x, err := repo.IndexWhere(ctx, func(path []byte, _ gitint.Mark) bool {
		return bytes.HasPrefix(below, path) && below[len(path)] == '/'
	})
	if err != nil {
		return ""
	}
	all, _ := x.Entries(".") // an index that was read has no error
	for _, e := range all {
		if e.Mode == gitint.ModeSubmodule {
			return filepath.Join(repo.Root(), filepath.FromSlash(e.Path))
		}
	}
	return ""
}
