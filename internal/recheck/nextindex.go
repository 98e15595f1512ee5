package recheck

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
)

// While git commit runs hooks and an editor, the next index is in a lock file.

const (
	lockSuffix = ".lock"
	// ownLock is the prefix of this program's own lock files, which contain no index.
	ownLock = "git-jp "
	// indexSign begins every index.
	indexSign = "DIRC"
)

// Git writes an index quickly, but it may be read half-written: these limit the retries.
const (
	nextTries = 25
	nextPause = 20 * time.Millisecond
)

// indexes searches the indexes of a part. It reads those that may replace the index before the
// index itself, so that one that replaces it meanwhile is found there.
func (p *Opinion) indexes(ctx context.Context, g *git, of part) error {
	next, err := of.nextIndexes()
	if err != nil {
		return err
	}
	for _, file := range next {
		one := of
		one.index = file
		if err := p.nextIndex(ctx, g, one); err != nil {
			return err
		}
	}
	return p.index(ctx, g, of)
}

// nextIndexes lists the files that, by their names, contain the next index or one that git commits
// from, and others that begin like an index.
func (of part) nextIndexes() ([]string, error) {
	entries, err := os.ReadDir(of.dir)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		stem, isLock := strings.CutSuffix(e.Name(), lockSuffix)
		if isLock && (strings.HasPrefix(stem, "next-index") || stem == "index" ||
			strings.HasPrefix(stem, "index"+lockSuffix)) {
			all = append(all, filepath.Join(of.dir, e.Name()))
			continue
		}
		// Split indexes refer to a shared one, and git reads it with them.
		isRead := e.Name() == "index" || strings.HasPrefix(e.Name(), "sharedindex.")
		if isRead || !e.Type().IsRegular() {
			continue
		}
		begins, err := beginning(filepath.Join(of.dir, e.Name()), len(indexSign))
		if err != nil {
			return nil, err
		}
		if begins == indexSign {
			all = append(all, filepath.Join(of.dir, e.Name()))
		}
	}
	lock := regular.Resolved(of.index) + lockSuffix
	if _, err := os.Lstat(lock); err == nil && !slices.Contains(all, lock) {
		all = append(all, lock)
	}
	return all, nil
}

// nextIndex searches an index that git may be writing.
func (p *Opinion) nextIndex(ctx context.Context, g *git, of part) error {
	for try := 1; ; try++ {
		own, err := isOwnLock(of.index)
		if own {
			return nil
		}
		if err == nil {
			err = p.index(ctx, g, of)
		}
		if err == nil || try == nextTries || ctx.Err() != nil {
			return err
		}
		time.Sleep(nextPause)
	}
}

// isOwnLock reports whether a file exists and is a lock of this program.
func isOwnLock(file string) (bool, error) {
	begins, err := beginning(file, len(ownLock))
	return begins == ownLock, err
}

// beginning returns the first bytes of a file, "" if it does not exist.
func beginning(file string, size int) (string, error) {
	f, err := regular.OpenFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // was only read
	begins, err := io.ReadAll(io.LimitReader(f, int64(size)))
	return string(begins), err
}
