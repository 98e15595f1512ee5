package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/workspace"
)

// LeftOut is the sparse-checkout pattern by which a lazy clone leaves the blobs of every workspace
// out of its working tree.
const LeftOut = "!**/" + workspace.DirName + "/" + blobs.Dir + "/"

// Vacate removes from the working tree of a lazy clone the files of blobs that HEAD and the index
// have, after their objects were read back: git does not expect files where a sparse checkout
// leaves them out, and refuses to merge, rebase or abort over them. A blob that no remote has keeps
// its copy: a reset removes it from the index, and then nothing names the object any more. In every
// other clone Vacate does nothing.
func Vacate(ctx context.Context, repo *gitint.Repo) error {
	return vacate(ctx, repo, ownIndexPath(repo))
}

// Abandon removes what git has written into the working tree of a lazy clone before it failed to
// fill it. It is Vacate where the disk may be full: it writes neither copies nor the index, and
// leaves files alone that the index does not mark.
func Abandon(ctx context.Context, repo *gitint.Repo) error {
	return leave(ctx, repo, func(done []gitint.Entry) ([]gitint.Entry, error) {
		marked, err := repo.IndexWhere(ctx, func(_ []byte, m gitint.Mark) bool {
			return m == gitint.MarkSkipped
		})
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(done, func(e gitint.Entry) bool {
			oid, ok := marked.OID(e.Path)
			return !ok || oid != e.OID
		}), nil
	})
}

// vacate is Vacate with the indexes that git may use next.
func vacate(ctx context.Context, repo *gitint.Repo, indexes ...string) error {
	if err := KeepSpares(ctx, repo); err != nil {
		return err
	}
	return leave(ctx, repo, func(done []gitint.Entry) (_ []gitint.Entry, err error) {
		for _, index := range indexes {
			if err == nil && len(done) > 0 {
				done, err = repo.MarkLeftOut(ctx, index, done)
			}
		}
		return done, err
	})
}

// leave removes the files of which mark says that the index marks them. If another process has an
// index locked, they stay until the next commit.
func leave(
	ctx context.Context, repo *gitint.Repo, mark func([]gitint.Entry) ([]gitint.Entry, error),
) error {
	lazy, err := repo.Lazy(ctx)
	if err != nil || !lazy {
		return err
	}
	root, err := regular.OpenRoot(repo.Root())
	if err != nil {
		return fmt.Errorf("open working tree: %w", err)
	}
	defer root.Close() //nolint:errcheck // what was removed is removed
	stores, err := stores(repo)
	if err != nil {
		return err
	}
	at, err := newHistory(ctx, repo)
	if err != nil || at == nil {
		return err
	}
	done, err := at.committed(ctx, stores, regular.In(root))
	if err == nil && len(done) > 0 {
		done, err = mark(done)
	}
	if isLocked(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("leave blobs out of the working tree: %w", err)
	}
	return errors.Join(at.forgetSpares(ctx, stores), remove(root, done))
}

// KeepSpares makes sure that blobs that only a lazy clone has are in its working tree, and that
// there is a copy of each. In every other clone it does nothing.
func KeepSpares(ctx context.Context, repo *gitint.Repo) error {
	if lazy, err := repo.Lazy(ctx); err != nil || !lazy {
		return err
	}
	return eachStore(repo, spare.Keep)
}

// RestoreSpares writes what only such a copy has into the working tree.
func RestoreSpares(repo *gitint.Repo) error { return eachStore(repo, spare.Restore) }

func eachStore(repo *gitint.Repo, do func(gitDir, root, store string) error) error {
	all, err := stores(repo)
	for _, store := range all {
		if err == nil {
			err = do(repo.GitDir(), repo.Root(), store)
		}
	}
	return err
}

// stores returns the stores of the working tree as slash paths from its root.
func stores(repo *gitint.Repo) (all []string, err error) {
	roots, _ := workspace.FindAll(repo.Root()) // what cannot be read is left alone
	for _, r := range roots {
		dir, err := below(repo, r)
		if err != nil {
			return nil, err
		}
		all = append(all, path.Join(dir, blobs.Dir))
	}
	return all, nil
}

func isLocked(err error) bool {
	_, ok := errors.AsType[*gitint.LockedError](err)
	return ok
}

// A history says which blobs are committed, and which of those a remote has.
type history struct {
	repo  *gitint.Repo
	head  gitint.Snapshot
	given func(name string, oid gitint.OID) bool
}

// newHistory returns nil if nothing is committed.
func newHistory(ctx context.Context, repo *gitint.Repo) (*history, error) {
	head, err := gitint.OrNone(repo.Tree(ctx, "HEAD"))
	if err != nil || head == nil {
		return nil, err
	}
	given, err := published(ctx, repo)
	return &history{repo, head, given}, err
}

// committed returns the blobs with files that HEAD has, whose objects are here and intact, and of
// which a remote has them or there is a copy.
func (at *history) committed(
	ctx context.Context, stores []string, tree fs.FS,
) (all []gitint.Entry, err error) {
	for _, store := range stores {
		err = eachBlob(tree, store, func(h blobs.Hash, name string) error {
			oid, ok := at.head.OID(name)
			if !ok || !readBack(ctx, at.repo, oid, h) {
				return ctx.Err()
			}
			_, copied := spare.File(at.repo.GitDir(), store, h)
			if copied || at.given(name, oid) {
				all = append(all, gitint.Entry{Path: name, Mode: gitint.ModeFile, OID: oid})
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// forgetSpares removes the copies of blobs that a remote has and that are here and intact.
func (at *history) forgetSpares(ctx context.Context, stores []string) error {
	gitDir := at.repo.GitDir()
	for _, store := range stores {
		var done []blobs.Hash
		for h, err := range spare.All(gitDir, store) {
			if err != nil || ctx.Err() != nil {
				continue // not a copy of ours
			}
			name := path.Join(store, h.Path())
			gz, _ := spare.File(gitDir, store, h)
			head, _ := at.head.OID(name)
			for _, oid := range []gitint.OID{at.repo.HashBlob(gz), head} {
				if at.given(name, oid) && readBack(ctx, at.repo, oid, h) {
					done = append(done, h)
					break
				}
			}
		}
		if err := spare.Forget(gitDir, store, done...); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// ErrUnpublished reports that a working tree cannot leave out blobs that no remote has.
var ErrUnpublished = errors.New("no remote has them yet")

// published returns a function that reports whether a remote has an object at a path: at the tip of
// a remote-tracking branch.
func published(
	ctx context.Context, repo *gitint.Repo,
) (func(name string, oid gitint.OID) bool, error) {
	refs, err := repo.Refs(ctx)
	if err != nil {
		return nil, err
	}
	var tips []gitint.Snapshot
	seen := map[gitint.OID]bool{}
	for _, ref := range refs {
		if !strings.HasPrefix(ref.Name, "refs/remotes/") || seen[ref.Peeled] {
			continue
		}
		seen[ref.Peeled] = true
		if tip, err := repo.Tree(ctx, ref.Peeled.String()); err == nil {
			tips = append(tips, tip)
		}
	}
	return func(name string, oid gitint.OID) bool {
		return slices.ContainsFunc(tips, func(tip gitint.Snapshot) bool {
			is, ok := tip.OID(name)
			return ok && is == oid
		})
	}, nil
}

// Unpublished returns the blobs of HEAD and the index that no remote-tracking branch has at its
// tip.
func Unpublished(ctx context.Context, repo *gitint.Repo) (names []string, err error) {
	given, err := published(ctx, repo)
	if err != nil {
		return nil, err
	}
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	dirs, err := gitint.NewDirFinder(workspace.DirName).Find(index)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		all, err := index.Entries(path.Join(dir, blobs.Dir))
		if err != nil {
			return nil, err
		}
		for _, e := range all {
			if !given(e.Path, e.OID) {
				names = append(names, e.Path)
			}
		}
	}
	return names, nil
}

// readBack reports whether git has a blob here, complete.
func readBack(ctx context.Context, repo *gitint.Repo, oid gitint.OID, h blobs.Hash) bool {
	gz, err := repo.ReadObject(ctx, oid, 0)
	if err != nil {
		return false
	}
	_, err = blobs.DecodeHash(gz, h)
	return err == nil
}

// eachBlob calls f with the blobs of a store that have a file.
func eachBlob(tree fs.FS, store string, f func(h blobs.Hash, name string) error) error {
	return fs.WalkDir(tree, store, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case name == path.Join(store, ".tmp"):
			return fs.SkipDir
		case !d.Type().IsRegular() || len(name) <= len(store):
			return nil
		}
		if h, ok := blobs.ParsePath(name[len(store)+1:]); ok {
			return f(h, name)
		}
		return nil
	})
}

// remove removes files, and directories that become empty.
func remove(root *os.Root, files []gitint.Entry) error {
	for _, e := range files {
		if err := root.Remove(e.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("leave blobs out of the working tree: %w", err)
		}
		for dir := path.Dir(e.Path); path.Base(dir) != workspace.DirName; dir = path.Dir(dir) {
			if root.Remove(dir) != nil {
				break // it has other files
			}
		}
	}
	return nil
}

// below returns the .jp of a workspace as a slash path from the root of the working tree.
func below(repo *gitint.Repo, root string) (string, error) {
	rel, err := filepath.Rel(repo.Root(), root)
	return path.Join(filepath.ToSlash(rel), workspace.DirName), err
}
