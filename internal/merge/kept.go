package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Kept is a conversation that one side of the operation in progress removed and the other
// changed, and of which the index has some of the other side's files. Git deletes the files that
// did not change without a conflict, so a plain git add of the changed ones keeps only these.
type Kept struct {
	ID  events.ID
	Dir string // from the root of the working tree
	// Deleted has the other files that the side has, below Dir.
	Deleted []string

	side   gitint.Snapshot
	commit gitint.OID // of the side
}

// KeptIn returns these conversations below a directory .jp, sorted, without unmerged ones. A
// conversation of which the index has another deleted file than those of the given names, which
// commands restore by themselves, is left out: a person has decided which files stay.
func KeptIn(
	ctx context.Context, repo *gitint.Repo, dir string, restored ...string,
) ([]Kept, error) {
	of := []func(context.Context, *gitint.Repo) (*Sides, error){SidesOf}
	if !Stopped(repo) {
		of = append(of[:0], sidesOfSquash)
		if repo.InProgress(conflictTree) {
			of = append(of, sidesOfStash)
		}
	}
	for _, of := range of {
		sides, err := of(ctx, repo)
		if err != nil {
			return nil, err
		}
		if sides == nil || sides.Theirs.IsZero() {
			continue
		}
		if all, err := sides.kept(ctx, repo, dir, restored); err != nil || len(all) > 0 {
			return all, err
		}
	}
	return nil, nil
}

// conflictTree names the tree with conflict markers that git keeps until the next commit, also
// after git stash pop, which it records nowhere else.
const conflictTree = "AUTO_MERGE"

// Completes reports whether the next commit may complete what git combined with conflicts, recorded
// or not. It only checks for files.
func Completes(repo *gitint.Repo) bool {
	return Stopped(repo) || repo.InProgress(squashMessage) || repo.InProgress(conflictTree)
}

// KeptByRebase is [KeptIn] after the commit of a rebase, for which git runs no hook before it.
func KeptByRebase(ctx context.Context, repo *gitint.Repo, dir string) ([]Kept, error) {
	sides, err := SidesOf(ctx, repo)
	if err != nil || sides == nil || sides.Theirs.IsZero() {
		return nil, err
	}
	sides.Ours, err = repo.Resolve(ctx, "HEAD^")
	if errors.Is(err, gitint.ErrUnknownRevision) {
		return nil, nil // it is the first commit
	}
	if err != nil {
		return nil, err
	}
	return sides.kept(ctx, repo, dir, nil)
}

// Command returns the command that restores the deleted files from the commit that has them.
func (k Kept) Command() string {
	var names strings.Builder
	for _, name := range k.Deleted {
		names.WriteString(" " + check.ShellQuote(path.Join(k.Dir, name)))
	}
	return fmt.Sprintf("git restore --staged --worktree --source=%.12s --%s",
		k.commit, names.String())
}

func (sides *Sides) kept(
	ctx context.Context, repo *gitint.Repo, dir string, restored []string,
) ([]Kept, error) {
	index, err := repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	staged, err := homesIn(index, dir)
	if err != nil {
		return nil, err
	}
	for _, s := range index.Stages() {
		delete(staged.dirs, conversationOf(s.Path))
	}
	f := newFamily(repo, dir)
	var all []Kept
	for _, id := range slices.Sorted(maps.Keys(staged.dirs)) {
		side, err := f.onlySide(ctx, sides, id)
		if err != nil {
			return nil, err
		}
		if side == nil || !slices.Equal(side.dirs[id], staged.dirs[id]) || len(side.dirs[id]) != 1 {
			continue
		}
		base, err := f.removedFrom(ctx, sides, id)
		if err != nil {
			return nil, err
		}
		k := Kept{ID: id, Dir: side.dirs[id][0], side: side.snap, commit: sides.Theirs}
		if ours, err := f.at(ctx, sides.Ours); err == nil && len(ours.dirs[id]) > 0 {
			k.commit = sides.Ours
		}
		if k.Deleted, err = deleted(index, *side, base, id, restored); err != nil {
			return nil, err
		}
		if len(k.Deleted) > 0 {
			all = append(all, k)
		}
	}
	return all, nil
}

// removedFrom returns a merge base that has a conversation, or nothing if it was added.
func (f *family) removedFrom(
	ctx context.Context, sides *Sides, id events.ID,
) (base homes, err error) {
	bases := []gitint.OID{sides.Base}
	if sides.Base.IsZero() {
		bases, err = f.mergeBases(ctx, sides.Theirs, []gitint.OID{sides.Ours})
	}
	for _, b := range bases {
		if base, err = f.at(ctx, b); err != nil || len(base.dirs[id]) == 1 {
			return base, err
		}
	}
	return homes{}, err
}

// onlySide returns the side that alone has a conversation, or nil.
func (f *family) onlySide(ctx context.Context, sides *Sides, id events.ID) (*homes, error) {
	ours, err := f.at(ctx, sides.Ours)
	if err != nil {
		return nil, err
	}
	theirs, err := f.at(ctx, sides.Theirs)
	switch ofOurs, ofTheirs := len(ours.dirs[id]) > 0, len(theirs.dirs[id]) > 0; {
	case err != nil || ofOurs == ofTheirs:
		return nil, err
	case ofOurs:
		return &ours, nil
	default:
		return &theirs, nil
	}
}

// deleted returns the files of a conversation that git deleted without a conflict, below its
// directory: those that the side has as the merge base has them, beside one that it changed.
func deleted(
	index *gitint.Index, side, base homes, id events.ID, restored []string,
) (names []string, err error) {
	dir, changed := side.dirs[id][0], false
	all, err := side.snap.Entries(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		name := e.Path[len(dir)+1:]
		_, was, err := base.file(id, name)
		if err != nil {
			return nil, err
		}
		_, staged := index.OID(e.Path)
		switch {
		case was != e.OID:
			changed = changed || staged && !was.IsZero()
		case staged && !slices.Contains(restored, name):
			return nil, nil
		case !staged && e.Mode.IsRegular():
			names = append(names, name)
		}
	}
	if !changed {
		return nil, nil
	}
	return names, nil
}

// Restore writes the deleted files and stages them. A file that the working tree has is staged as
// it is.
func (k Kept) Restore(ctx context.Context, repo *gitint.Repo) error {
	root, err := regular.OpenRoot(repo.Root())
	if err != nil {
		return fmt.Errorf("restore files of %s: %w", k.ID, err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it afterwards
	var names []string
	for _, name := range k.Deleted {
		name = path.Join(k.Dir, name)
		names = append(names, name)
		if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		e, err := entryIn(k.side, name)
		var data []byte
		if err == nil {
			data, err = k.side.ReadFile(name)
		}
		if err == nil {
			err = root.MkdirAll(path.Dir(name), atomicfile.DirPerm)
		}
		if err == nil {
			opts := atomicfile.Options{TempDir: tempOf(name)}
			if e.Mode == gitint.ModeExecutable {
				opts.Perm = atomicfile.DirPerm
			}
			err = atomicfile.Replace(root, name, nil, data, opts)
		}
		if err != nil {
			return fmt.Errorf("restore files of %s: %w", k.ID, err)
		}
	}
	_, err = repo.Stage(ctx, gitint.Change{Add: names, LockTimeout: gitint.NoWait})
	if err != nil {
		return fmt.Errorf("stage files of %s: %w", k.ID, err)
	}
	return nil
}

// String describes what [Kept.Restore] did.
func (k Kept) String() string {
	return fmt.Sprintf("restored %s of %s, which one side removed and the other changed",
		strings.Join(k.Deleted, ", "), k.ID)
}
