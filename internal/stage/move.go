package stage

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// Move moves all entries of the index below one directory, with their content, to another. Unmerged
// entries stay for 'git jp resolve'.
func Move(ctx context.Context, repo *gitint.Repo, from, to string) error {
	index, err := repo.Index(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(index.Conflicts(), func(name string) bool {
		return strings.HasPrefix(name, from+"/")
	}) {
		return nil
	}
	entries, err := index.Entries(from)
	if err != nil {
		return err
	}
	var change gitint.Change
	for _, e := range entries {
		change.Remove = append(change.Remove, e.Path)
		e.Path = to + strings.TrimPrefix(e.Path, from)
		change.AddObjects = append(change.AddObjects, e)
	}
	_, err = repo.Stage(ctx, change)
	return err
}

// A Loss says what of a conversation cannot be restored from HEAD, "" when HEAD has all of it.
type Loss string

// LossOf compares the directory of a conversation with HEAD's. It never fails: if it cannot tell,
// or there is no repository, the conversation counts as not committed.
func LossOf(ctx context.Context, repo *gitint.Repo, dir string) Loss {
	const uncommitted Loss = "It is not committed, and cannot be restored"
	if repo == nil {
		return uncommitted
	}
	tree, err := repo.Tree(ctx, "HEAD")
	if err != nil {
		return uncommitted
	}
	below, err := filepath.Rel(repo.Root(), dir)
	if err != nil {
		return uncommitted
	}
	committed := filepath.ToSlash(below)
	if entries, err := tree.Entries(committed); err != nil || len(entries) == 0 {
		return uncommitted
	}
	if !sameFiles(regular.Dir(dir), tree, committed, repo.Limits()) {
		return "It has changes that are not committed"
	}
	return ""
}

// sameFiles reports whether tree has every file of a conversation, below dir.
func sameFiles(
	conversation fs.FS, tree fs.ReadFileFS, dir string, limits regular.Limits,
) bool {
	err := fs.WalkDir(conversation, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		have, err := regular.Read(conversation, name, limits.Of(name))
		if err != nil {
			return err
		}
		committed, err := tree.ReadFile(dir + "/" + name)
		if err == nil && !bytes.Equal(have, committed) {
			err = errors.New("not the same")
		}
		return err
	})
	return err == nil
}
