package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A family caches the files that were read from the commits of a merge and their ancestors.
type family struct {
	repo *gitint.Repo
	dir  string // the directory .jp
	// known holds the conversations of commits, and bases their merge bases.
	known map[gitint.OID]homes
	bases map[string][]gitint.OID
}

// homes holds the conversations of a snapshot, each with the directories that have its id.
type homes struct {
	snap gitint.Snapshot
	dirs map[events.ID][]string
	// trees holds the tree objects of these directories, if the snapshot has them.
	trees map[string]gitint.OID
}

func newFamily(repo *gitint.Repo, dir string) *family {
	return &family{
		repo: repo, dir: dir,
		known: make(map[gitint.OID]homes), bases: make(map[string][]gitint.OID),
	}
}

// conversationDirs are the directories that hold conversations, below .jp.
var conversationDirs = [...]string{"conversations", "conversations/.archive"}

// homesIn lists the conversations of a snapshot.
func homesIn(snap gitint.Snapshot, dir string) (homes, error) {
	h := homes{snap, make(map[events.ID][]string), make(map[string]gitint.OID)}
	for _, below := range conversationDirs {
		at := path.Join(dir, below)
		entries, err := snap.Children(at)
		if gitint.IsNoDir(err) {
			continue
		}
		if err != nil {
			return h, fmt.Errorf("list %s in %s: %w", at, snap.Name(), err)
		}
		for _, e := range entries {
			id, ok := events.ParseDirname(path.Base(e.Path))
			if ok && e.Mode == gitint.ModeDir { // a file beside them is none of them
				dir := path.Join(at, path.Base(e.Path))
				h.dirs[id], h.trees[dir] = append(h.dirs[id], dir), e.OID
			}
		}
	}
	return h, nil
}

// Committed reports whether the index or HEAD has a conversation below a directory .jp. Other refs
// do not matter, because a conversation that is neither checked out nor staged did not come from a
// merge here.
func Committed(ctx context.Context, repo *gitint.Repo, dir string, id events.ID) (bool, error) {
	index, err := repo.Index(ctx)
	if err != nil {
		return false, err
	}
	for _, s := range index.Stages() {
		if conversationOf(s.Path) == id && below(s.Path, dir) {
			return true, nil
		}
	}
	staged, err := homesIn(index, dir)
	if err != nil || len(staged.dirs[id]) > 0 {
		return err == nil, err
	}
	head, err := gitint.OrNone(repo.Tree(ctx, "HEAD"))
	if err != nil || head == nil { // there is no commit yet
		return false, err
	}
	committed, err := homesIn(head, dir)
	return len(committed.dirs[id]) > 0, err
}

// file returns the path and object of a file of a conversation that has a single directory, or zero
// values if there is none.
func (h homes) file(id events.ID, name string) (at string, oid gitint.OID, err error) {
	if len(h.dirs[id]) != 1 {
		return "", oid, nil
	}
	at = path.Join(h.dirs[id][0], name)
	oid, err = objectIn(h.snap, at)
	return at, oid, err
}

// objectIn returns the object of a file in a snapshot, or zero if there is none.
func objectIn(snap gitint.Snapshot, name string) (gitint.OID, error) {
	e, err := entryIn(snap, name)
	if e.Mode == gitint.ModeDir {
		return gitint.OID{}, err
	}
	return e.OID, err
}

// entryIn returns the entry of a file or directory, or the zero value if there is none.
func entryIn(snap gitint.Snapshot, name string) (gitint.Entry, error) {
	entries, err := snap.Children(path.Dir(name))
	if err != nil && !gitint.IsNoDir(err) {
		return gitint.Entry{}, err
	}
	for _, e := range entries {
		if e.Path == name {
			return e, nil
		}
	}
	return gitint.Entry{}, nil
}

// read returns a file of a conversation, or nil if there is none.
func (h homes) read(id events.ID, name string) ([]byte, error) {
	at, oid, err := h.file(id, name)
	if err != nil || oid.IsZero() {
		return nil, err
	}
	return h.snap.ReadFile(at)
}

// readIn returns a file of a snapshot, or nil if there is none. A missing object is an error, not a
// missing file: otherwise its content would count as removed.
func readIn(snap gitint.Snapshot, name string) ([]byte, error) {
	data, err := snap.ReadFile(name)
	missing := new(gitint.MissingObjectError)
	if errors.Is(err, fs.ErrNotExist) && !errors.As(err, &missing) {
		return nil, nil
	}
	return data, err
}

// side returns a conversation as one side of a merge.
func (h homes) side(id events.ID) (threeway.Side, error) {
	data, err := h.read(id, workspace.EventsFile)
	if err != nil || data == nil {
		return threeway.Side{}, err
	}
	stream, err := events.Decode(data)
	if err != nil {
		return threeway.Side{}, fmt.Errorf("%s: %w", h.snap.Name(), err)
	}
	config, err := h.read(id, workspace.BaseConfigFile)
	if err != nil {
		return threeway.Side{}, err
	}
	details, err := h.read(id, workspace.MetadataFile)
	return threeway.Side{
		Stream: stream, BaseConfig: config, Source: threeway.SourceIn(details),
	}, err
}

// keepForks removes those entries of rewound whose fork no conversation here holds, because it was
// not committed: the merge must not leave out events that only the fork would have.
func (h homes) keepForks(rewound map[string][]string) {
	maps.DeleteFunc(rewound, func(fork string, _ []string) bool {
		ids := events.SessionIDs(fork)
		return len(h.dirs[ids[0]])+len(h.dirs[ids[1]]) == 0
	})
}

func (f *family) at(ctx context.Context, commit gitint.OID) (homes, error) {
	if h, ok := f.known[commit]; ok {
		return h, nil
	}
	tree, err := f.repo.Tree(ctx, commit.String())
	if err != nil {
		return homes{}, fmt.Errorf("read commit %s: %w", commit, err)
	}
	h, err := homesIn(tree, f.dir)
	if err == nil {
		f.known[commit] = h
	}
	return h, err
}

// mergeBases returns the best common ancestors of a commit and others.
func (f *family) mergeBases(
	ctx context.Context, one gitint.OID, others []gitint.OID,
) ([]gitint.OID, error) {
	var key strings.Builder
	key.WriteString(one.String())
	for _, id := range others {
		key.WriteString(" " + id.String())
	}
	if ids, ok := f.bases[key.String()]; ok {
		return ids, nil
	}
	ids, err := f.repo.MergeBases(ctx, one, others...)
	if err == nil {
		f.bases[key.String()] = ids
	}
	return ids, err
}

// sideAt returns a conversation in a commit.
func (f *family) sideAt(
	ctx context.Context, commit gitint.OID, id events.ID,
) (threeway.Side, error) {
	h, err := f.at(ctx, commit)
	if err != nil {
		return threeway.Side{}, err
	}
	return h.side(id)
}

// base returns the conversation in the merge base of a commit and others. If there are several, as
// in a criss-cross history, they are merged into one as git does.
func (f *family) base(
	ctx context.Context, id events.ID, one gitint.OID, others []gitint.OID,
) (threeway.Side, error) {
	bases, err := f.mergeBases(ctx, one, others)
	if err != nil || len(bases) == 0 {
		return threeway.Side{}, err
	}
	all, err := f.sideAt(ctx, bases[0], id)
	for i := 1; err == nil && i < len(bases); i++ {
		var below, next threeway.Side
		if below, err = f.base(ctx, id, bases[i], bases[:i]); err != nil {
			break
		}
		if next, err = f.sideAt(ctx, bases[i], id); err != nil {
			break
		}
		var r threeway.Result
		r, err = threeway.VirtualBase(below, all, next)
		all = threeway.Side{Stream: r.Stream, BaseConfig: r.BaseConfig, Source: r.Source}
	}
	return all, err
}
