package gitint

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/index"
)

// An Index has the files that the next commit will have. It is an fs.FS like a Tree. Only entries
// of stage 0 with content are its files.
type Index struct {
	repo      *Repo
	path      string
	gitDir    string  // of another worktree, "" for the repository's own
	entries   []Entry // of stage 0, sorted by path
	intents   []string
	pinned    []string
	assumed   []string // those that are assume-unchanged, but not skip-worktree
	sparse    []string // directories, with a trailing slash, that were not expanded
	conflicts []string
	stages    []StageEntry
}

var _ Snapshot = (*Index)(nil)

// A StageEntry is one side of a conflict.
type StageEntry struct {
	Entry
	// Stage is 1 for the common ancestor, 2 for ours, 3 for theirs.
	Stage int
}

// Index reads the index that git uses now, which GIT_INDEX_FILE may name. A missing one is empty.
func (r *Repo) Index(ctx context.Context) (*Index, error) {
	return r.readIndex(ctx, &Index{repo: r, path: r.indexPath}, nil)
}

// A Mark is how git treats an entry of an index.
type Mark int

// The marks.
const (
	MarkNone     Mark = iota
	MarkUnmerged      // it is a side of a conflict
	MarkSkipped       // skip-worktree: the working tree need not have it
	MarkAssumed       // assume-unchanged only: the working tree should have it
)

func markOf(e *index.Entry) Mark {
	switch {
	case e.Stage != 0:
		return MarkUnmerged
	case e.Pinned && e.Assumed:
		return MarkAssumed
	case e.Pinned:
		return MarkSkipped
	default:
		return MarkNone
	}
}

// IndexWhere is Index limited to the files that wanted accepts by their path and mark: it needs
// memory only for these.
func (r *Repo) IndexWhere(
	ctx context.Context, wanted func(path []byte, mark Mark) bool,
) (*Index, error) {
	is := func(e *index.Entry, name []byte) bool { return wanted(name, markOf(e)) }
	return r.indexWhere(ctx, is,
		func(x *Index, e Entry) bool { return wanted([]byte(e.Path), x.markOf(e.Path)) })
}

// indexWhere reads an index limited to what keep accepts. The content of a directory of a sparse
// index is not known until it was read: isIn then decides.
func (r *Repo) indexWhere(
	ctx context.Context, keep index.Filter, isIn func(x *Index, e Entry) bool,
) (*Index, error) {
	x := &Index{repo: r, path: r.indexPath}
	_, err := r.readIndex(ctx, x, func(e *index.Entry, name []byte) bool {
		return e.Mode == ModeDir || keep(e, name)
	})
	if err != nil {
		return nil, err
	}
	x.entries = slices.DeleteFunc(x.entries, func(e Entry) bool { return !isIn(x, e) })
	return x, nil
}

// markOf returns the mark of an entry of stage 0.
func (x *Index) markOf(name string) Mark {
	if _, pinned := slices.BinarySearch(x.pinned, name); !pinned {
		return MarkNone
	}
	if slices.Contains(x.assumed, name) {
		return MarkAssumed
	}
	return MarkSkipped
}

// IndexOf reads the index of a working tree of the repository.
func (r *Repo) IndexOf(ctx context.Context, w Worktree) (*Index, error) {
	x := &Index{repo: r, path: w.Index(), gitDir: w.GitDir}
	if _, err := r.readIndex(ctx, x, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Title(), err)
	}
	return x, nil
}

// readIndex fills x with the entries that keep accepts, all if that is nil.
func (r *Repo) readIndex(ctx context.Context, x *Index, keep index.Filter) (*Index, error) {
	f, err := index.Read(x.path, cmp.Or(x.gitDir, r.gitDir), r.idSize(), keep)
	if err == nil {
		err = x.take(ctx, f, keep)
	}
	if err == nil {
		err = x.expand()
	}
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	if !slices.IsSortedFunc(x.entries, byPath) { // unsorted after a split or a sparse index
		slices.SortFunc(x.entries, byPath)
	}
	slices.Sort(x.pinned)
	x.conflicts = slices.Compact(x.conflicts)
	return x, nil
}

// take takes the entries of the file, or else git's, which also reports a fault.
func (x *Index) take(ctx context.Context, f *index.File, keep index.Filter) error {
	all, ok := f.Entries()
	if !ok {
		return x.list(ctx, keep)
	}
	x.entries = make([]Entry, 0, len(all))
	for _, e := range all {
		x.add(e, keep)
	}
	return nil
}

// expand replaces the directories of a sparse index by their content. Git would write the trees
// again for that.
func (x *Index) expand() error {
	if !slices.ContainsFunc(x.entries, func(e Entry) bool { return e.Mode == ModeDir }) {
		return nil
	}
	sparse := x.entries
	x.entries = make([]Entry, 0, len(sparse))
	for _, e := range sparse {
		if e.Mode != ModeDir {
			x.entries = append(x.entries, e)
			continue
		}
		x.sparse = append(x.sparse, e.Path)
		l := listing{tree: &Tree{repo: x.repo, name: x.Name(), root: e.OID}}
		var err error
		x.entries, err = l.collect(context.Background(), x.entries, e.Path, e.OID)
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *Index) add(e index.Entry, keep index.Filter) {
	switch {
	case keep != nil && !keep(&e, []byte(e.Path)):
		return
	case e.Stage != 0:
		x.conflicts = append(x.conflicts, e.Path)
		x.stages = append(x.stages, StageEntry{Entry: e.Entry, Stage: e.Stage})
	case e.Intent:
		x.intents = append(x.intents, e.Path)
	default:
		x.entries = append(x.entries, e.Entry)
	}
	if e.Pinned {
		x.pinned = append(x.pinned, e.Path)
		if e.Assumed {
			x.assumed = append(x.assumed, e.Path)
		}
	}
}

// Name returns "index".
func (x *Index) Name() string { return "index" }

// Conflicts returns the unmerged paths. They are not files of the index.
func (x *Index) Conflicts() []string { return slices.Clone(x.conflicts) }

// Stages returns every side of every conflict.
func (x *Index) Stages() []StageEntry { return slices.Clone(x.stages) }

// IntentToAdd returns the paths of git add --intent-to-add. They have no content yet and are not
// files of the index.
func (x *Index) IntentToAdd() []string { return slices.Clone(x.intents) }

// Pinned returns the paths marked skip-worktree or assume-unchanged, for which git does not look at
// the working tree, sorted. It does not include the content of a sparse index's directories.
func (x *Index) Pinned() []string { return slices.Clone(x.pinned) }

// Assumed returns the paths in Pinned that are marked assume-unchanged and not skip-worktree: the
// working tree should have them.
func (x *Index) Assumed() []string { return slices.Clone(x.assumed) }

// OID returns the object of a file, a symbolic link or a submodule.
func (x *Index) OID(name string) (OID, bool) {
	i, ok := x.search(name)
	if !ok {
		return OID{}, false
	}
	return x.entries[i].OID, true
}

// Entries returns every file below dir, sorted by path.
func (x *Index) Entries(dir string) ([]Entry, error) {
	return slices.Clone(x.below(dir)), nil
}

// below returns the sorted entries in dir.
func (x *Index) below(dir string) []Entry {
	if dir == "." {
		return x.entries
	}
	// '0' is the character after '/'.
	first, _ := x.search(dir + "/")
	last, _ := x.search(dir + "0")
	return x.entries[first:last]
}

func (x *Index) search(name string) (int, bool) { return searchPath(x.entries, name) }

// byPath compares entries by their paths.
func byPath(a, b Entry) int { return strings.Compare(a.Path, b.Path) }

// searchPath searches sorted entries.
func searchPath(sorted []Entry, name string) (int, bool) {
	return slices.BinarySearchFunc(sorted, Entry{Path: name}, byPath)
}

// Open opens a file or a directory.
func (x *Index) Open(name string) (fs.File, error) { return open(x, name) }

// ReadFile returns the content of a file.
func (x *Index) ReadFile(name string) ([]byte, error) { return readFile(x, name) }

// Children returns the direct entries of a directory, unsorted.
func (x *Index) Children(dir string) ([]Entry, error) { return childrenOf(x, dir) }

// ReadDir lists a directory, sorted by name.
func (x *Index) ReadDir(name string) ([]fs.DirEntry, error) { return readDir(x, name) }

func (x *Index) find(name string) (Entry, error) {
	if i, ok := x.search(name); ok {
		return x.entries[i], nil
	}
	if name == "." || len(x.below(name)) > 0 {
		return Entry{Path: name, Mode: ModeDir}, nil
	}
	return Entry{}, fs.ErrNotExist
}

// children makes directories of the paths with a further slash. All paths of one directory are
// consecutive.
func (x *Index) children(dir Entry) ([]Entry, error) {
	prefix := dir.Path + "/"
	if dir.Path == "." {
		prefix = ""
	}
	var children []Entry
	for _, e := range x.below(dir.Path) {
		name, _, deeper := strings.Cut(e.Path[len(prefix):], "/")
		if !deeper {
			children = append(children, e)
			continue
		}
		child := Entry{Path: prefix + name, Mode: ModeDir}
		if n := len(children); n == 0 || children[n-1] != child {
			children = append(children, child)
		}
	}
	return children, nil
}

func (x *Index) repository() *Repo { return x.repo }
