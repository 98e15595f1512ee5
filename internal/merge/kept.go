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
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Kept is a conversation that one side of the operation in progress removed and the other
// changed, and of which the index has some of the other side's files. Git deletes the files that
// did not change without a conflict, so a plain git add of the changed ones keeps only these.
type Kept struct {
	ID  events.ID
	Dir string // from the root of the working tree
	// Deleted has the other files that the side has, below Dir.
	Deleted []string
	// Redacted has those that are left out of Deleted: they have what was redacted in the stream.
	Redacted []string

	side   homes
	commit gitint.OID // of the side
	hidden secrets.Originals
}

// KeptIn returns these conversations below a directory .jp, sorted, without unmerged ones. decided
// has files of which a person decided to keep what one side deleted. A conversation of which the
// index has another deleted file than its metadata, which a repair restores alone, is left out: a
// person has decided which files stay.
func KeptIn(
	ctx context.Context, repo *gitint.Repo, dir string, decided ...Case,
) ([]Kept, error) {
	k, err := newKeeper(ctx, repo, dir)
	if err != nil {
		return nil, err
	}
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
		if all, err := k.between(ctx, sides); err != nil || len(all) > 0 {
			return all, err
		}
	}
	return k.decided(ctx, decided)
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
	sides.Ours, err = gitint.OrNone(repo.Resolve(ctx, "HEAD^"))
	if err != nil || sides.Ours.IsZero() { // it is the first commit
		return nil, err
	}
	k, err := newKeeper(ctx, repo, dir)
	if err != nil {
		return nil, err
	}
	return k.between(ctx, sides)
}

// KeptSince is [KeptIn] for conversations of which a finished operation kept only some files, as a
// rebase does: the last commit of HEAD that removed one of the others removed all of them.
func KeptSince(
	ctx context.Context, repo *gitint.Repo, dir string, ids ...events.ID,
) (all []Kept, err error) {
	k, err := newKeeper(ctx, repo, dir)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if len(k.staged.dirs[id]) != 1 {
			continue
		}
		if all, err = k.since(ctx, all, id); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Commands returns the commands that restore the deleted files from the commit that has them.
func (k Kept) Commands() []string {
	var names strings.Builder
	for _, name := range k.paths() {
		names.WriteString(" " + check.Pathspec(name))
	}
	if len(k.hidden) > 0 { // git would restore it
		return []string{"git jp repair --yes", "git add --" + names.String()}
	}
	return []string{fmt.Sprintf("git restore --staged --worktree --source=%.12s --%s",
		k.commit, names.String())}
}

// A keeper finds kept conversations in the index.
type keeper struct {
	*family

	index  *gitint.Index
	staged homes // without those that have unmerged files
}

func newKeeper(ctx context.Context, repo *gitint.Repo, dir string) (*keeper, error) {
	k := &keeper{family: newFamily(repo, dir)}
	var err error
	if k.index, err = repo.Index(ctx); err != nil {
		return nil, err
	}
	if k.staged, err = homesIn(k.index, dir); err != nil {
		return nil, err
	}
	for _, s := range k.index.Stages() {
		delete(k.staged.dirs, conversationOf(s.Path))
	}
	return k, nil
}

// between finds those that one of two sides kept.
func (k *keeper) between(ctx context.Context, sides *Sides) ([]Kept, error) {
	var all []Kept
	for _, id := range slices.Sorted(maps.Keys(k.staged.dirs)) {
		side, err := k.onlySide(ctx, sides, id)
		if err != nil {
			return nil, err
		}
		if side == nil {
			continue
		}
		base, err := k.removedFrom(ctx, sides, id)
		if err != nil {
			return nil, err
		}
		one := Kept{ID: id, side: *side, commit: sides.Theirs}
		if ours, err := k.at(ctx, sides.Ours); err == nil && len(ours.dirs[id]) > 0 {
			one.commit = sides.Ours
		}
		entries, err := k.entries(*side, id)
		if err == nil {
			all, err = k.add(ctx, all, one, base, entries)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// decided finds those of which a person decided to keep a file. Git names no commit of cherry-pick
// -n, am and checkout -m, so the sides are the newest commits that have the versions of the file.
func (k *keeper) decided(ctx context.Context, decided []Case) (all []Kept, err error) {
	for _, c := range decided {
		base, theirs := c.Stages[stageBase], c.Stages[stageTheirs]
		if base.IsZero() || len(k.staged.dirs[c.ID]) != 1 {
			continue
		}
		versions := []gitint.OID{base}
		if c.DeletedHere() {
			versions = append(versions, theirs)
		}
		homes, err := k.repo.Homes(ctx, path.Join(k.dir, conversationDirs[0]), versions...)
		if err != nil {
			return nil, err
		}
		one := Kept{ID: c.ID, commit: homes[base].Commit}
		switch home, ok := homes[theirs]; {
		case !c.DeletedHere():
			one.commit = headOf(ctx, k.repo)
		case ok:
			one.commit = home.Commit
		}
		if all, err = k.addAt(ctx, all, one, homes[base].Commit); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// since finds one that HEAD has in part.
func (k *keeper) since(ctx context.Context, all []Kept, id events.ID) ([]Kept, error) {
	var names []string
	for _, name := range workspace.Files() {
		if at := path.Join(k.staged.dirs[id][0], name); !k.has(at) {
			names = append(names, at)
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	revs, err := k.repo.History(ctx, gitint.HistoryRequest{Globs: names, Count: 1})
	if err != nil || len(revs) == 0 {
		return all, err
	}
	now, err := k.at(ctx, revs[0].OID)
	if err != nil || len(now.dirs[id]) > 0 {
		return all, err
	}
	parents, err := k.repo.Parents(ctx, revs[0].OID)
	if err != nil || len(parents) == 0 {
		return all, err
	}
	if again, err := k.addedAgain(ctx, parents[0], id); err != nil || again {
		return all, err
	}
	return k.addAt(ctx, all, Kept{ID: id, commit: parents[0]}, parents[0])
}

// addedAgain reports whether the index has a conversation with none of the events that a commit has
// under its id, not even edited: someone added another one, with the files that it has.
func (k *keeper) addedAgain(ctx context.Context, commit gitint.OID, id events.ID) (bool, error) {
	of, err := k.at(ctx, commit)
	if err != nil {
		return false, err
	}
	was, err := of.said(id)
	if err != nil {
		return false, unlessSyntax(err)
	}
	now, err := k.staged.said(id)
	return len(now.elements) > 0 && len(was.elements) > 0 && !now.continues(was), unlessSyntax(err)
}

// entries returns the files of a conversation in a side, nil if the index has it elsewhere.
func (k *keeper) entries(side homes, id events.ID) ([]gitint.Entry, error) {
	dirs := k.staged.dirs[id]
	if len(dirs) != 1 || !slices.Equal(side.dirs[id], dirs) {
		return nil, nil
	}
	return side.snap.Entries(dirs[0])
}

// addAt adds a conversation of which a commit has the kept version, unless it is there.
func (k *keeper) addAt(
	ctx context.Context, all []Kept, one Kept, base gitint.OID,
) ([]Kept, error) {
	known := func(other Kept) bool { return other.ID == one.ID }
	if one.commit.IsZero() || base.IsZero() || slices.ContainsFunc(all, known) {
		return all, nil
	}
	side, err := k.at(ctx, one.commit)
	if err != nil {
		return all, err
	}
	was, err := k.at(ctx, base)
	if err != nil {
		return all, err
	}
	entries, err := k.entries(side, one.ID)
	if err != nil {
		return all, err
	}
	entries = slices.Clone(entries) // what was changed may be in no commit, but in the index
	for i, e := range entries {
		if oid, ok := k.index.OID(e.Path); ok {
			entries[i].OID = oid
		}
	}
	one.side = side
	return k.add(ctx, all, one, was, entries)
}

// add adds a conversation if git deleted some of its entries.
func (k *keeper) add(
	ctx context.Context, all []Kept, one Kept, base homes, entries []gitint.Entry,
) ([]Kept, error) {
	deleted, err := k.deleted(entries, base, one.ID)
	if err != nil || len(deleted) == 0 {
		return all, err
	}
	one.Dir = k.staged.dirs[one.ID][0]
	if one.hidden, err = hiddenIn(ctx, k.repo, k.dir, one.side, one.ID); err != nil {
		return nil, err
	}
	for _, name := range deleted {
		ok := len(one.hidden) == 0
		if at := path.Join(one.Dir, name); !ok {
			data, err := one.side.snap.ReadFile(at)
			if err != nil {
				return nil, err
			}
			_, ok = Restorable(one.hidden, at, data)
		}
		if ok {
			one.Deleted = append(one.Deleted, name)
		} else {
			one.Redacted = append(one.Redacted, name)
		}
	}
	return append(all, one), nil
}

func (k *keeper) has(name string) bool {
	_, ok := k.index.OID(name)
	return ok
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
// directory: those that the side has as the merge base has them, beside one that it changed. Of the
// files that a conversation needs also changed ones: git am may take one for a renamed file.
func (k *keeper) deleted(
	side []gitint.Entry, base homes, id events.ID,
) (names []string, err error) {
	changed := false
	for _, e := range side {
		name := strings.TrimPrefix(e.Path, k.staged.dirs[id][0]+"/")
		_, was, err := base.file(id, name)
		if err != nil {
			return nil, err
		}
		switch staged := k.has(e.Path); {
		case was != e.OID && (staged || !needed(name)):
			changed = changed || staged && !was.IsZero()
		case staged && name != workspace.MetadataFile:
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

// needed reports whether a conversation cannot be loaded without a file.
func needed(name string) bool {
	return name == workspace.EventsFile || name == workspace.MetadataFile
}

// Restore writes the deleted files and stages them. A file that the working tree has is staged as
// it is.
func (k Kept) Restore(ctx context.Context, repo *gitint.Repo) error {
	if err := k.Write(ctx, repo); err != nil {
		return err
	}
	_, err := repo.Stage(ctx, gitint.Change{Add: k.paths(), LockTimeout: gitint.NoWait})
	if err != nil {
		return fmt.Errorf("stage files of %s: %w", k.ID, err)
	}
	return nil
}

func (k Kept) paths() []string {
	return lists.Map(k.Deleted, func(name string) string { return path.Join(k.Dir, name) })
}

// Write writes the deleted files that the working tree lacks, a stream without what was redacted.
func (k Kept) Write(ctx context.Context, repo *gitint.Repo) error {
	root, err := regular.OpenRoot(repo.Root())
	if err != nil {
		return fmt.Errorf("restore files of %s: %w", k.ID, err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it afterwards
	for _, name := range k.paths() {
		if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		e, err := entryIn(k.side.snap, name)
		var data []byte
		if err == nil {
			data, err = k.side.snap.ReadFile(name)
		}
		data, _ = Restorable(k.hidden, name, data)
		if err == nil && kindOf(name) == Events {
			data, err = withoutRedacted(ctx, repo, workspaceIn(name), name, data)
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
	return nil
}

// String describes what [Kept.Restore] did.
func (k Kept) String() string {
	done := "restored " + strings.Join(k.Deleted, ", ")
	if len(k.Deleted) == 0 {
		done = "restored nothing"
	}
	done += fmt.Sprintf(" of %s, which one side removed and the other changed", k.ID)
	if len(k.Redacted) > 0 {
		done += "; left out what has redacted text: " + strings.Join(k.Redacted, ", ")
	}
	return done
}
