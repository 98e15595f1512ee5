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

	side gitint.Snapshot
}

// KeptIn returns these conversations below a directory .jp, sorted, without unmerged ones.
func KeptIn(ctx context.Context, repo *gitint.Repo, dir string) ([]Kept, error) {
	sides, err := SidesOf(ctx, repo)
	if err == nil && sides == nil {
		sides, err = sidesOfSquash(ctx, repo)
	}
	if err != nil || sides == nil || sides.Theirs.IsZero() {
		return nil, err
	}
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
		side, err := f.removedBy(ctx, sides, id)
		if err != nil {
			return nil, err
		}
		if side == nil || !slices.Equal(side.dirs[id], staged.dirs[id]) || len(side.dirs[id]) != 1 {
			continue
		}
		k := Kept{ID: id, Dir: side.dirs[id][0], side: side.snap}
		if k.Deleted, err = lacking(index, side.snap, k.Dir); err != nil {
			return nil, err
		}
		if len(k.Deleted) > 0 {
			all = append(all, k)
		}
	}
	return all, nil
}

// removedBy returns the side that alone has a conversation which the other removed, or nil.
func (f *family) removedBy(ctx context.Context, sides *Sides, id events.ID) (*homes, error) {
	if !sides.Base.IsZero() {
		base, err := f.at(ctx, sides.Base)
		if err != nil || len(base.dirs[id]) == 0 {
			return nil, err // it was added
		}
	}
	return f.onlySide(ctx, sides, id)
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

// lacking returns the files of a directory in a snapshot that the index lacks, below it.
func lacking(index *gitint.Index, side gitint.Snapshot, dir string) (names []string, err error) {
	all, err := side.Entries(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if _, ok := index.OID(e.Path); !ok && e.Mode.IsRegular() {
			names = append(names, e.Path[len(dir)+1:])
		}
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
		data, err := k.side.ReadFile(name)
		if err == nil {
			err = root.MkdirAll(path.Dir(name), atomicfile.DirPerm)
		}
		if err == nil {
			opts := atomicfile.Options{TempDir: tempOf(name)}
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
