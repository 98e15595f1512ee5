package update

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// Untracked returns the untracked blobs of the workspaces in dirs over which git would refuse to
// check out a commit that has the same content there. Their bytes may differ, as gzip allows. Both
// files are read: one that does not hold the content of its name, here or in the commit, is left
// out.
func Untracked(
	ctx context.Context, repo *gitint.Repo, rev string, dirs []string,
) (names []string, err error) {
	theirs, err := repo.Tree(ctx, rev)
	if err != nil {
		return nil, err
	}
	files := regular.Dir(repo.Root())
	for _, dir := range dirs {
		store := path.Join(dir, blobs.Dir)
		all, err := repo.WorkChanges(ctx, store)
		if err != nil {
			return nil, err
		}
		for _, w := range all {
			h, isBlob := blobs.ParsePath(strings.TrimPrefix(w.Path, store+"/"))
			oid, isTheirs := theirs.OID(w.Path)
			if w.State != gitint.Untracked || !isBlob || !isTheirs {
				continue
			}
			gz, err := repo.ReadObject(ctx, oid, 0)
			if err == nil {
				_, err = blobs.DecodeHash(gz, h)
			}
			if err == nil {
				gz, err = regular.ReadUnlinked(files, w.Path, blobs.DefaultMaxBlobBytes)
			}
			if err == nil {
				_, err = blobs.DecodeHash(gz, h)
			}
			if err == nil {
				names = append(names, w.Path)
			}
		}
	}
	return names, ctx.Err()
}

// overwriting calls merge with settings of git by which it replaces the named untracked files
// instead of refusing: git takes ignored files for expendable. The settings hide the user's own
// file of ignored names, so git refuses to replace what only that file ignores.
func overwriting(names []string, merge func(settings ...string) error) error {
	if len(names) == 0 {
		return merge()
	}
	f, err := os.CreateTemp("", "git-jp-merge-")
	if err != nil {
		return fmt.Errorf("list untracked blobs: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // a list that nothing reads
	for _, name := range names {
		if strings.Contains(name, "\n") {
			continue // a part of it would name another file; git refuses to replace this one
		}
		_, err = fmt.Fprintf(f, "/%s\n", escaped(name))
		if err != nil {
			break
		}
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("list untracked blobs: %w", err)
	}
	return merge("core.excludesFile=" + f.Name())
}

// escaped returns the pattern of gitignore that matches only a path.
func escaped(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
