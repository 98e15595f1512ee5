package spare

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/regular"
)

// Dir returns the directory of all copies of a worktree, whatever their store.
func Dir(gitDir string) string { return filepath.Join(gitDir, "jp", "spare") }

// dirIn returns the directory of a store's copies. The store is a slash path from the root of the
// working tree.
func dirIn(gitDir, store string) string {
	return filepath.Join(Dir(gitDir), filepath.FromSlash(store))
}

// Path returns the path of a copy, for people.
func Path(store string, h blobs.Hash) string {
	return path.Join(".git/jp/spare", store, h.Path())
}

// Unfinished returns the directory of copies that are being written, or that killed processes left
// unfinished. Each is of something that exists elsewhere.
func Unfinished(gitDir, store string) string { return filepath.Join(dirIn(gitDir, store), ".tmp") }

// Tidy removes unfinished copies that were begun before a time.
func Tidy(gitDir, store string, before time.Time) error {
	dir := Unfinished(gitDir, store)
	left, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range left {
		info, infoErr := e.Info()
		if infoErr == nil && info.ModTime().Before(before) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("remove unfinished copies: %w", err)
	}
	return nil
}

// Keep copies the blobs of a store of the working tree at root that have no copy, or a damaged one
// of another size. gitDir is the working tree's own.
func Keep(gitDir, root, store string) error {
	return between(gitDir, root, store, func(tree, copies *blobs.Store) error {
		return complete(copies, tree)
	})
}

// Restore writes the blobs that exist only as a copy into the working tree.
func Restore(gitDir, root, store string) error {
	return between(gitDir, root, store, func(tree, copies *blobs.Store) error {
		return complete(tree, copies)
	})
}

func between(gitDir, root, store string, f func(tree, copies *blobs.Store) error) error {
	tree, copies := open(filepath.Join(root, filepath.FromSlash(store))), copiesIn(gitDir, store)
	err := errors.Join(f(tree, copies), tree.Close(), copies.Close())
	if err != nil {
		return fmt.Errorf("keep what no remote has: %w", err)
	}
	return nil
}

// All returns the blobs of a store that have a copy, and what cannot be listed.
func All(gitDir, store string) iter.Seq2[blobs.Hash, error] {
	return copiesIn(gitDir, store).All()
}

// File returns the bytes of an intact copy.
func File(gitDir, store string, h blobs.Hash) ([]byte, bool) {
	copies := copiesIn(gitDir, store)
	defer copies.Close() //nolint:errcheck // it was only read
	return read(copies, h)
}

// open opens a store whose path is absolute: opening fails only if a path is not.
func open(dir string) *blobs.Store {
	s, _ := blobs.Open(dir, blobs.Options{})
	return s
}

// copiesIn opens the copies of a store, for this user and the group of a shared repository alone,
// as everything of ours in a git directory is.
func copiesIn(gitDir, store string) *blobs.Store {
	s, _ := blobs.Open(dirIn(gitDir, store), blobs.Options{Private: true})
	return s
}

// complete writes the blobs of one store that another one lacks, or has in another size and not
// intact.
func complete(to, from *blobs.Store) error {
	batch := to.NewBatch()
	defer batch.Discard()
	for h, err := range from.All() {
		if _, foreign := errors.AsType[*blobs.ForeignError](err); foreign {
			continue
		}
		if err != nil && !isDir(from.Dir()) {
			return nil // the store has something else in its place, and no blobs then
		}
		if err != nil {
			return err
		}
		if isLike(to, from, h) {
			continue
		}
		if gz, ok := read(from, h); ok {
			if err := batch.WriteFile(h, gz); err != nil {
				return err
			}
		}
	}
	return batch.Commit()
}

func isDir(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// isLike reports whether both stores have a blob, as a file of the same size.
func isLike(a, b *blobs.Store, h blobs.Hash) bool {
	is, err := a.Stat(h)
	if err != nil || !is.Mode().IsRegular() {
		return false
	}
	like, err := b.Stat(h)
	return err == nil && like.Size() == is.Size()
}

// read returns the bytes of an intact file. Another encoder may have written them, and git knows
// them by these bytes.
func read(s *blobs.Store, h blobs.Hash) ([]byte, bool) {
	gz, err := regular.ReadFile(filepath.Join(s.Dir(), filepath.FromSlash(h.Path())),
		regular.Limits{}.Of(h.Path()))
	if err != nil {
		return nil, false
	}
	_, err = blobs.DecodeHash(gz, h)
	return gz, err == nil
}

// Forget removes the copies of blobs that are deleted, or that a remote has.
func Forget(gitDir, store string, all ...blobs.Hash) error {
	root, err := regular.OpenRoot(dirIn(gitDir, store))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("forget copies: %w", err)
	}
	defer root.Close() //nolint:errcheck // what was removed is removed
	for _, h := range all {
		err := root.Remove(filepath.FromSlash(h.Path()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget the copy of blob %s: %w", h, err)
		}
	}
	return nil
}

// Drop removes all copies of a working tree that no longer leaves blobs out.
func Drop(gitDir string) error {
	if err := os.RemoveAll(dirIn(gitDir, "")); err != nil {
		return fmt.Errorf("remove copies: %w", err)
	}
	return nil
}
