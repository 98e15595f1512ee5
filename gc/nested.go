package gc

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Foreign returns what shows that the files of a workspace, whose directory is root, may belong
// to another repository than repo, or to another working tree of it; "" when nothing does. It is
// the path of a ".git" on the way to them, of the repository that git finds from inside the
// store, or of a submodule that the index has on that way. What the history of the other one
// refers to cannot be known from here.
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

// submodule returns the submodule of the index in which a directory lies, by its path. Its
// repository stays in that of the project when its ".git" is removed. An index that cannot be
// read has none here: it stops the collector by itself, and nobody else.
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
