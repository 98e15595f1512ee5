package gitint

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
	"time"

	"github.com/git-jp/git-jp/gitint/internal/index"
	"github.com/git-jp/git-jp/internal/lists"
)

// A Change is one change of an index: all of it happens, or nothing. Paths are slash paths from the
// root of the working tree, taken literally, byte for byte; each may be in one list only. Other
// entries are not changed.
type Change struct {
	// Add are files of the working tree whose current content is added to the index, as by git add
	// --force --sparse: through the filters of the attributes, also if they are ignored, outside a
	// sparse checkout, or marked skip-worktree or assume-unchanged, a mark which they lose.
	Add []string
	// AddObjects are files whose content is an object of the repository, or one that a remote has
	// promised, independent of the working tree.
	AddObjects []Entry
	// Remove are paths to remove from the index. A missing path is no error.
	Remove []string
	// LeftOut are paths of Add and AddObjects that a sparse checkout leaves out of the working
	// tree: they are marked skip-worktree.
	LeftOut []string

	// IndexFile is the index to change, relative to the root of the working tree or absolute. Empty
	// means the one that git uses now.
	IndexFile string
	// LockTimeout is how long to wait for a lock that another process holds. Zero means that of the
	// repository, NoWait not at all.
	LockTimeout time.Duration
	// KeepExisting skips a path of Add and AddObjects that the index has, also unmerged, and does
	// not report it. An entry without content does not count: one with intent to add looks like
	// that, and is in no commit.
	KeepExisting bool
	// ResolveConflicts allows the change to replace unmerged entries.
	ResolveConflicts bool
	// Verify, if set, is called with the entries of Add and AddObjects before other processes can
	// see them. If it returns an error, nothing is staged. It must not change an index.
	Verify func(ctx context.Context, staged []Entry) error
}

// A StageResult has the entries of an index after a change.
type StageResult struct {
	// Added are the entries of Add and AddObjects, sorted by path.
	Added []Entry
	// Removed are those of Remove that existed, sorted.
	Removed []string
}

// An UnmergedError reports paths with conflicts, which are therefore not staged.
type UnmergedError struct {
	Paths []string
}

// Error names the first path and counts the others.
func (e *UnmergedError) Error() string {
	if len(e.Paths) == 1 {
		return fmt.Sprintf("%q is unmerged", e.Paths[0])
	}
	return fmt.Sprintf("%q and %d more are unmerged", e.Paths[0], len(e.Paths)-1)
}

// Stage changes the index. After an error the index is unchanged; the error is a *LockedError if
// another process holds the index, and an *UnmergedError if a path has a conflict.
func (r *Repo) Stage(ctx context.Context, c Change) (StageResult, error) {
	paths, err := r.checkChange(ctx, c)
	if err != nil || len(paths) == 0 {
		return StageResult{}, err
	}
	tx, err := r.beginIndex(ctx, c.IndexFile, c.LockTimeout)
	if err != nil {
		return StageResult{}, fmt.Errorf("stage: %w", err)
	}
	defer tx.rollback()
	res, err := tx.stage(ctx, c, paths)
	if err != nil {
		return StageResult{}, err
	}
	if err := tx.commit(); err != nil {
		return StageResult{}, fmt.Errorf("stage: %w", err)
	}
	return res, nil
}

func (tx *indexTx) stage(ctx context.Context, c Change, paths []string) (StageResult, error) {
	before, err := tx.entries(ctx, paths)
	if err != nil {
		return StageResult{}, err
	}
	if c.KeepExisting {
		c = c.without(before, tx.repo.HashBlob(nil))
	}
	if err := conflicts(before, c.paths()); err != nil && !c.ResolveConflicts {
		return StageResult{}, fmt.Errorf("stage: %w", err)
	}
	lost, err := tx.lost(ctx, c, before)
	if err != nil {
		return StageResult{}, fmt.Errorf("stage: %w", err)
	}
	if err := tx.apply(ctx, prepareLines(c, before, lost, tx.repo.noOID())); err != nil {
		return StageResult{}, fmt.Errorf("stage: %w", err)
	}
	if len(c.Add) > 0 {
		// Without --remove: a missing file is an error and not a deletion. Without --replace: no
		// other entry is replaced.
		err := tx.change(ctx, joinZ(c.Add), "update-index", "--add", "-z", "--stdin")
		if err != nil {
			return StageResult{}, fmt.Errorf("stage: %w", err)
		}
	}
	if err := tx.leaveOut(ctx, c.leftOut()); err != nil {
		return StageResult{}, fmt.Errorf("stage: %w", err)
	}
	added, err := tx.added(ctx, c)
	if err != nil {
		return StageResult{}, err
	}
	removed := lists.Filter(c.Remove, func(p string) bool { return len(before[p]) > 0 })
	slices.Sort(removed)
	return StageResult{Added: added, Removed: removed}, nil
}

// without removes from a change the paths that the index has with content.
func (c Change) without(before map[string][]index.Entry, empty OID) Change {
	has := func(name string) bool {
		return len(before[name]) > 0 && before[name][0].OID != empty
	}
	c.Add = slices.DeleteFunc(slices.Clone(c.Add), has)
	c.AddObjects = slices.DeleteFunc(slices.Clone(c.AddObjects), func(e Entry) bool {
		return has(e.Path)
	})
	return c
}

// added returns the paths of Add and AddObjects.
func (c Change) added() []string {
	objects := lists.Map(c.AddObjects, func(e Entry) string { return e.Path })
	return slices.Concat(c.Add, objects)
}

// paths returns all paths, in no order.
func (c Change) paths() []string { return append(c.added(), c.Remove...) }

// added looks up the result of the change, because update-index skips an invalid name with a
// message and exit code 0, and takes an input that it cannot read for the end of it.
func (tx *indexTx) added(ctx context.Context, c Change) ([]Entry, error) {
	names := c.added()
	slices.Sort(names)
	after, err := tx.entries(ctx, c.paths())
	if err != nil {
		return nil, err
	}
	for _, p := range c.Remove {
		if len(after[p]) > 0 {
			return nil, fmt.Errorf("stage %q: git did not remove it", p)
		}
	}
	left := lists.Set(c.LeftOut)
	added := make([]Entry, 0, len(names))
	for _, p := range names {
		if len(after[p]) != 1 || after[p][0].Stage != 0 ||
			after[p][0].Pinned && !left[p] {
			return nil, fmt.Errorf("stage %q: git did not take it", p)
		}
		added = append(added, after[p][0].Entry)
	}
	if c.Verify != nil {
		if err := c.Verify(ctx, added); err != nil {
			return nil, err
		}
	}
	return added, nil
}

// apply changes entries without reading the working tree.
func (tx *indexTx) apply(ctx context.Context, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	return tx.change(ctx, joinZ(lines), "update-index", "-z", "--index-info")
}

// lost returns the objects of entries to add that are missing here. Git would not write them again,
// because it considers their files unchanged.
func (tx *indexTx) lost(
	ctx context.Context, c Change, before map[string][]index.Entry,
) (map[OID]bool, error) {
	var ids []OID
	for _, p := range c.Add {
		if was := before[p]; len(was) == 1 {
			ids = append(ids, was[0].OID)
		}
	}
	missing, err := tx.repo.missing(ctx, ids)
	return lists.Set(missing), err
}

// prepareLines returns the part of a change that reads no file: removals, entries given by object,
// and entries that must lose a mark or a conflict before git reads their file.
func prepareLines(
	c Change, before map[string][]index.Entry, lost map[OID]bool, none string,
) []string {
	var lines []string
	for _, p := range c.Remove {
		if len(before[p]) > 0 {
			lines = append(lines, removeLine(p, none))
		}
	}
	for _, e := range c.AddObjects {
		// Even if it exists already: an entry with intent to add looks the same.
		lines = append(lines, entryLine(e))
	}
	for _, p := range c.Add {
		switch was := before[p]; {
		case len(was) == 0:
		case was[0].Stage != 0 || was[0].Pinned || lost[was[0].OID]:
			// The mode is kept, in case core.fileMode says that files have none.
			lines = append(lines, entryLine(was[len(was)-1].Entry))
		}
	}
	return lines
}

func entryLine(e Entry) string {
	return fmt.Sprintf("%o %s 0\t%s", uint32(e.Mode), e.OID, e.Path)
}

func removeLine(name, none string) string { return "0 " + none + " 0\t" + name }

// noOID returns git's notation for no object.
func (r *Repo) noOID() string { return strings.Repeat("0", 2*r.idSize()) }

func conflicts(entries map[string][]index.Entry, paths []string) error {
	unmerged := lists.Filter(paths, func(p string) bool {
		return len(entries[p]) > 0 && entries[p][0].Stage != 0
	})
	if len(unmerged) == 0 {
		return nil
	}
	return &UnmergedError{Paths: unmerged}
}

var (
	errNotInWorkTree = errors.New("no working tree")
	errPath          = errors.New("not a path below the root of the working tree")
	errTwice         = errors.New("named twice")
	errNotFile       = errors.New("not a file")
	errMode          = errors.New("not the mode of a file")
)

// checkChange returns the paths of a change, sorted, or its fault, before any index is read.
func (r *Repo) checkChange(ctx context.Context, c Change) ([]string, error) {
	paths := c.paths()
	for _, e := range c.AddObjects {
		if e.Mode != ModeFile && e.Mode != ModeExecutable && e.Mode != ModeSymlink {
			return nil, fmt.Errorf("stage %q: mode %o: %w", e.Path, uint32(e.Mode), errMode)
		}
	}
	if err := checkPaths(paths); err != nil {
		return nil, fmt.Errorf("stage %w", err)
	}
	if err := r.checkFiles(c.Add); err != nil {
		return nil, err
	}
	lost, err := r.Unpromised(ctx, c.AddObjects)
	if err == nil && len(lost) > 0 {
		err = &MissingObjectError{OID: lost[0].OID}
	}
	if err != nil {
		return nil, fmt.Errorf("stage objects: %w", err)
	}
	return paths, nil
}

// checkPaths sorts the paths.
func checkPaths(paths []string) error {
	slices.Sort(paths)
	for i, p := range paths {
		if p == "" || p == "." || p == ".." || strings.HasPrefix(p, "../") ||
			path.IsAbs(p) || path.Clean(p) != p || strings.ContainsRune(p, 0) {
			return fmt.Errorf("%q: %w", p, errPath)
		}
		if i > 0 && paths[i-1] == p {
			return fmt.Errorf("%q: %w", p, errTwice)
		}
	}
	return nil
}

// checkFiles refuses paths that git would not add as a file: a directory that is a repository
// becomes a submodule.
func (r *Repo) checkFiles(names []string) error {
	if len(names) > 0 && r.root == "" {
		return fmt.Errorf("stage: %w", errNotInWorkTree)
	}
	for _, p := range names {
		fi, err := os.Lstat(filepath.Join(r.root, filepath.FromSlash(p)))
		if err != nil {
			return fmt.Errorf("stage %q: %w", p, err)
		}
		if t := fi.Mode().Type(); t != 0 && t != fs.ModeSymlink {
			return fmt.Errorf("stage %q: %w", p, errNotFile)
		}
	}
	return nil
}
