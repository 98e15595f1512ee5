package gitint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// maxKnownEntries limits the trees that are cached, at about 100 bytes for each entry.
const maxKnownEntries = 1 << 18

// A Tree has the files of one revision. It is an fs.FS, with two differences: names need not be
// UTF-8, and a symbolic link can be listed but neither opened nor followed, nor can a submodule.
type Tree struct {
	repo *Repo
	name string
	root OID
}

var _ Snapshot = (*Tree)(nil)

// Tree returns the files of a revision: a commit, a tag, or a tree. In a partial clone without
// trees it fetches this one, with all directories below, if Options.Fetch is set.
func (r *Repo) Tree(ctx context.Context, rev string) (*Tree, error) {
	id, err := r.treeID(ctx, rev)
	missing, ok := errors.AsType[*MissingObjectError](err)
	if ok && missing.Promised && r.fetch != nil {
		if err = r.Bring(ctx, []OID{missing.OID}, 0); err == nil {
			id, err = r.treeID(ctx, rev)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read tree of %q: %w", rev, err)
	}
	return &Tree{repo: r, name: rev, root: id}, nil
}

// Name returns the revision with which the tree was opened.
func (t *Tree) Name() string { return t.name }

// ID returns the object of the tree itself.
func (t *Tree) ID() OID { return t.root }

// OID returns the object of a file, a symbolic link or a submodule.
func (t *Tree) OID(name string) (OID, bool) {
	e, err := t.find(name)
	if err != nil || e.Mode == ModeDir {
		return OID{}, false
	}
	return e.OID, true
}

// Entries returns every file below dir, sorted by path.
func (t *Tree) Entries(dir string) ([]Entry, error) {
	lists, err := t.EntriesOf(context.Background(), dir)
	return lists[0], err
}

// EntriesOf is Entries for several directories together: if they have very many subdirectories, it
// takes one step for each level instead of one for each directory.
func (t *Tree) EntriesOf(ctx context.Context, dirs ...string) ([][]Entry, error) {
	lists := make([][]Entry, len(dirs))
	tops := make([]OID, len(dirs))
	for i, dir := range dirs {
		at, err := t.find(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return lists, err
		}
		if err == nil && at.Mode == ModeDir {
			tops[i] = at.OID
		}
	}
	l := listing{tree: t}
	if err := l.load(ctx, slices.Clone(tops)); err != nil {
		return lists, err
	}
	for i, dir := range dirs {
		if tops[i].IsZero() {
			continue
		}
		prefix := dir + "/"
		if dir == "." {
			prefix = ""
		}
		var err error
		if lists[i], err = l.collect(ctx, nil, prefix, tops[i]); err != nil {
			return lists, err
		}
	}
	return lists, nil
}

// Open opens a file or a directory.
func (t *Tree) Open(name string) (fs.File, error) { return open(t, name) }

// ReadFile returns the content of a file.
func (t *Tree) ReadFile(name string) ([]byte, error) { return readFile(t, name) }

// Children returns the direct entries of a directory, unsorted.
func (t *Tree) Children(dir string) ([]Entry, error) { return childrenOf(t, dir) }

// ReadDir lists a directory, sorted by name.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) { return readDir(t, name) }

// find looks up a path, through cached trees.
func (t *Tree) find(name string) (Entry, error) {
	at := Entry{Path: name, Mode: ModeDir, OID: t.root}
	if name == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if at.Mode != ModeDir {
			return Entry{}, fs.ErrNotExist
		}
		entries, err := t.repo.treeEntries(context.Background(), at.OID)
		if err != nil {
			return Entry{}, err
		}
		e, ok := object.Find(entries, part)
		if !ok {
			return Entry{}, fs.ErrNotExist
		}
		at.Mode, at.OID = e.Mode, e.OID
	}
	return at, nil
}

func (t *Tree) children(dir Entry) ([]Entry, error) {
	entries, err := t.repo.treeEntries(context.Background(), dir.OID)
	if err != nil {
		return nil, err
	}
	prefix := dir.Path + "/"
	if dir.Path == "." {
		prefix = ""
	}
	children := slices.Clone(entries)
	for i := range children {
		children[i].Path = prefix + children[i].Path
	}
	return children, nil
}

func (t *Tree) repository() *Repo { return t.repo }

// treeEntries returns the entries of a tree object, decoded once; their paths are names. They are
// shared and must not be changed.
func (r *Repo) treeEntries(ctx context.Context, id OID) ([]Entry, error) {
	if entries, ok := r.objects.tree(id); ok {
		return entries, nil
	}
	obj, err := r.readObject(ctx, id, maxTree)
	if missing, ok := errors.AsType[*MissingObjectError](err); ok {
		return nil, &MissingObjectError{missing.OID, missing.Promised, true}
	}
	if err != nil {
		return nil, err
	}
	t, err := object.ParseTree(obj, id)
	if err != nil {
		return nil, err
	}
	entries := t.All()
	r.objects.remember(id, entries)
	return entries, nil
}

func (o *objects) tree(id OID) ([]Entry, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	entries, ok := o.trees[id]
	return entries, ok
}

func (o *objects) remember(id OID, entries []Entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.trees == nil || o.known > maxKnownEntries {
		o.trees, o.known = map[OID][]Entry{}, 0
	}
	o.trees[id] = entries
	o.known += len(entries)
}
