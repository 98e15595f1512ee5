package gitint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/gitlock"
	"github.com/git-jp/git-jp/gitint/internal/index"
)

// Git writes the index of a commit into the lock of the index or, if only some paths are committed,
// into a file of its own, which exists while a hook or an editor runs. Nothing else may have its
// objects' names by then. A killed git leaves it.

const (
	// nextIndexPrefix begins the names of the indexes from which some paths are committed.
	nextIndexPrefix = "next-index-"
	// sharedPrefix begins the names of those that split indexes refer to, which are read with them.
	sharedPrefix = "sharedindex."
)

// NextIndexes returns the paths of the indexes that git processes in a working tree are writing, or
// that killed ones have left, and of others that lie beside HEAD: git stash -p, scripts with
// GIT_INDEX_FILE and other programs name theirs as they like. One that replaces the index meanwhile
// is found there, if the index is read after these.
func (r *Repo) NextIndexes(w Worktree) ([]string, error) {
	entries, err := os.ReadDir(w.GitDir)
	if err != nil {
		return nil, fmt.Errorf("list next indexes of %s: %w", w.Title(), err)
	}
	var all []string
	for _, e := range entries {
		file := filepath.Join(w.GitDir, e.Name())
		is := isNextIndex(e.Name())
		if !is && e.Type().IsRegular() && file != w.Index() &&
			!strings.HasPrefix(e.Name(), sharedPrefix) {
			if is, err = index.Is(file); err != nil {
				return nil, fmt.Errorf("look for indexes of %s: %w", w.Title(), err)
			}
		}
		if is {
			all = append(all, file)
		}
	}
	indexes := []string{w.Index()}
	if w.GitDir == r.gitDir {
		indexes = append(indexes, r.IndexPath())
	}
	for _, file := range indexes {
		file, err := r.indexFile(file) // git follows a symlink, and locks its target
		if err != nil {
			return nil, fmt.Errorf("list next indexes of %s: %w", w.Title(), err)
		}
		lock := file + gitlock.Suffix
		if _, err := os.Lstat(lock); err == nil && !slices.Contains(all, lock) {
			all = append(all, lock)
		}
	}
	return all, nil
}

// isNextIndex reports whether a file beside an index is one by its name. A hook that changes the
// index of the commit locks that in turn.
func isNextIndex(name string) bool {
	return strings.HasSuffix(name, gitlock.Suffix) &&
		(strings.HasPrefix(name, "index"+gitlock.Suffix) ||
			strings.HasPrefix(name, nextIndexPrefix))
}

// NextIndex reads one of the NextIndexes of a working tree. It returns nil if the lock is one of
// this program, which has no index. It waits for an incomplete one as for a lock; then the error is
// a *[LockedError], and has the fault of the file.
func (r *Repo) NextIndex(
	ctx context.Context, w Worktree, path string, timeout time.Duration,
) (*Index, error) {
	var x *Index
	var err error
	if failed := gitlock.Wait(ctx, r.waitFor(timeout), func() bool {
		x, err = r.readNextIndex(ctx, w, path)
		return err == nil || ctx.Err() != nil
	}); failed != nil {
		return nil, failed
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", r.locked(path), err)
	}
	return x, err
}

func (r *Repo) readNextIndex(ctx context.Context, w Worktree, path string) (*Index, error) {
	if ours, err := gitlock.IsOurs(path); err != nil || ours {
		return nil, err
	}
	return r.readIndex(ctx, &Index{repo: r, path: path, gitDir: w.GitDir}, nil)
}
