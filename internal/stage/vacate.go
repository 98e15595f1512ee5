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

// Vacate removes from the working tree of a lazy clone the files of blobs that HEAD, the index and
// a remote have, after their objects were read back. A blob that no remote has stays a file, as in
// every other clone: a reset removes it from the index, and then nothing names the object any more.
// In every other clone Vacate does nothing.
func Vacate(ctx context.Context, repo *gitint.Repo) error {
	return vacate(ctx, repo, ownIndexPath(repo))
}

// vacate is Vacate with the indexes that git may use next. If another process has one locked, the
// files stay until the next commit.
func vacate(ctx context.Context, repo *gitint.Repo, indexes ...string) error {
	lazy, err := repo.Lazy(ctx)
	if err != nil || !lazy {
		return err
	}
	if err := KeepSpares(ctx, repo); err != nil {
		return err
	}
	root, err := os.OpenRoot(repo.Root())
	if err != nil {
		return fmt.Errorf("open working tree: %w", err)
	}
	defer root.Close() //nolint:errcheck // what was removed is removed
	done, err := committed(ctx, repo, regular.In(root))
	for _, index := range indexes {
		if err != nil || len(done) == 0 {
			break
		}
		if done, err = repo.MarkLeftOut(ctx, index, done); isLocked(err) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("leave blobs out of the working tree: %w", err)
	}
	if err := forgetSpares(repo, done); err != nil {
		return err
	}
	return remove(root, done)
}

// KeepSpares makes sure that blobs that only a lazy clone has are in its working tree, and that
// there is a copy of each. In every other clone it does nothing.
func KeepSpares(ctx context.Context, repo *gitint.Repo) error {
	if lazy, err := repo.Lazy(ctx); err != nil || !lazy {
		return err
	}
	roots, _ := workspace.FindAll(repo.Root()) // what cannot be read is left alone
	for _, r := range roots {
		dir, err := below(repo, r)
		if err != nil {
			return err
		}
		err = spare.Keep(repo.GitDir(), repo.Root(), path.Join(dir, blobs.Dir))
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetSpares removes the copies of blobs that a remote has.
func forgetSpares(repo *gitint.Repo, files []gitint.Entry) error {
	for _, e := range files {
		store, name, _ := strings.Cut(e.Path, blobs.Dir+"/")
		h, ok := blobs.ParsePath(name)
		if !ok {
			continue
		}
		if err := spare.Forget(repo.GitDir(), store+blobs.Dir, h); err != nil {
			return err
		}
	}
	return nil
}

func isLocked(err error) bool {
	_, ok := errors.AsType[*gitint.LockedError](err)
	return ok
}

// committed returns the blobs of the working tree that HEAD and a remote have, and whose objects
// are here and intact.
func committed(
	ctx context.Context, repo *gitint.Repo, tree fs.FS,
) (all []gitint.Entry, err error) {
	roots, _ := workspace.FindAll(repo.Root()) // what cannot be read is left alone
	if len(roots) == 0 {
		return nil, nil
	}
	head, err := repo.Tree(ctx, "HEAD")
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	given, err := published(ctx, repo)
	if err != nil {
		return nil, err
	}
	for _, r := range roots {
		dir, err := below(repo, r)
		if err != nil {
			return nil, err
		}
		err = eachBlob(tree, path.Join(dir, blobs.Dir), func(h blobs.Hash, name string) error {
			oid, ok := head.OID(name)
			if !ok || !given(name, oid) || !readBack(ctx, repo, oid, h) {
				return ctx.Err()
			}
			all = append(all, gitint.Entry{Path: name, Mode: gitint.ModeFile, OID: oid})
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
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
