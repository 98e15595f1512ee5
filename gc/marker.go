package gc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
)

// A tipKind is the kind of a tip.
type tipKind int

const (
	tipWorkTree tipKind = iota
	tipIndex
	tipRef   // a branch or another ref, or HEAD: the content of its references must exist
	tipOther // a stash, an operation in progress: parts of it may be elsewhere
)

// A tip is a tree that may be committed or merged next, so every reference in it counts.
type tip struct {
	title  string
	kind   tipKind
	commit gitint.OID // or tree; zero in a working tree or an index
	isTree bool       // commit is a tree
	part   bool       // it may be any part of a directory .jp
	place  refs.Place
	units  []unit
	disk   []diskFile         // of a working tree
	staged map[int32]struct{} // of an index: the contents that it has
	store  string             // of a working tree, also that of an index
	base   string             // to which the paths on disk are relative
	// complete is true if the tree is known to have all contents that it refers to.
	complete bool
	files    []stagedFile // of an index
}

// A stagedFile is a file of an index.
type stagedFile struct {
	path string
	document
}

// A marker finds out which contents are needed.
type marker struct {
	o          *Options
	trees      *treeCache
	hashes     *hashes
	references *referenceCache
	workspaces *workspaces
	roots      *gitint.Roots
	index      *gitint.Index       // that git uses now
	last       func() historyCache // result of the last search of history

	barrier
	tips    []*tip
	commits []gitint.OID // named by roots, tips and others
	titles  map[gitint.OID]string
	notes   []string
	wanted  []bool // by a tip, by number

	partial bool // objects may be only at a remote that has promised them
	lazy    bool // working trees leave out blobs that their index has
}

func newMarker(o *Options) *marker {
	m := &marker{
		o: o, hashes: newHashes(), titles: make(map[gitint.OID]string),
	}
	m.trees = newTreeCache(o)
	m.references = newReferenceCache(m.trees, m.hashes, false)
	m.workspaces = newWorkspaces(m)
	return m
}

// markTips finds the references of every tip.
func (m *marker) markTips(ctx context.Context) error {
	if err := m.workspaces.checkHome(ctx); err != nil {
		return err
	}
	if !m.o.UserLocal {
		if err := m.readRoots(ctx); err != nil {
			return err
		}
	}
	if err := m.quarantined(ctx); err != nil {
		return m.absorb(ctx, err)
	}
	if !m.o.UserLocal {
		if err := m.gitTips(ctx); err != nil {
			return err
		}
	}
	if err := m.workspaces.userLocal(ctx); err != nil {
		return err
	}
	m.wanted = make([]bool, len(m.hashes.all))
	for _, t := range m.tips {
		m.want(t)
	}
	return nil
}

func (m *marker) readRoots(ctx context.Context) error {
	roots, err := m.o.Repo.Roots(ctx)
	if err != nil {
		return m.absorb(ctx, err)
	}
	m.roots = roots
	for _, i := range roots.Incomplete {
		if i.Reason == gitint.ReasonPartial {
			continue // the objects to read must exist, which is checked
		}
		m.obstruct(Obstacle{Reason: i.Reason, Detail: i.String()})
	}
	for _, w := range roots.Worktrees {
		if w.Gone && w.Unknown == "" {
			m.notes = append(m.notes, w.Title()+" is gone: 'git worktree prune' forgets it")
		}
	}
	return m.workspaces.onDisk(ctx)
}

func reasonOf(err error) string {
	missing, corrupt := new(gitint.MissingObjectError), new(gitint.CorruptObjectError)
	switch {
	case errors.As(err, &missing), errors.As(err, &corrupt):
		return ReasonObject
	case errors.Is(err, os.ErrPermission):
		return ReasonFiles
	case errors.Is(err, regular.ErrNot):
		return ReasonIrregular
	default:
		return gitint.ReasonUnreadable
	}
}

// gitTips reads the tips in git.
func (m *marker) gitTips(ctx context.Context) error {
	if err := m.refTips(ctx); err != nil {
		return err
	}
	if err := m.indexTips(ctx); err != nil {
		return err
	}
	if err := m.operationFiles(); err != nil {
		return m.absorb(ctx, err)
	}
	if err := m.requireTips(ctx); err != nil {
		return err
	}
	if err := m.expand(ctx); err != nil {
		return err
	}
	if err := m.workspaces.whereTracked(ctx); err != nil {
		return err
	}
	return m.refused()
}

// refTips sorts the roots by the kind of their object, and makes tips of some.
func (m *marker) refTips(ctx context.Context) error {
	kinds, err := kindsOf(ctx, m.o.Repo, m.roots.Names)
	if err != nil {
		return m.absorb(ctx, err)
	}
	var stashes, noted []gitint.Root
	for _, root := range m.roots.Names {
		id, kind, err := m.o.peel(ctx, root.OID, kinds[root.OID])
		switch {
		case err != nil:
			m.obstruct(Obstacle{Reason: reasonOf(err), Root: root.Title(), Detail: err.Error()})
		case kind == "" && root.Needed:
			m.obstruct(Obstacle{
				Reason: ReasonObject, Root: root.Title(),
				Detail: fmt.Sprintf("its object %s is missing", root.OID),
			})
		case kind == "":
			// The object that the name held is missing completely.
		default:
			root.OID = id
			m.root(root, kind)
			if kind == "commit" && isNotes(root) {
				noted = append(noted, root)
			}
			if root.Kind == gitint.RootStash && kind == "commit" {
				stashes = append(stashes, root)
			}
		}
	}
	if err := m.notesTips(ctx, noted); err != nil {
		return m.absorb(ctx, err)
	}
	return m.stashes(ctx, stashes)
}

// isNotes reports whether a root is a notes ref.
func isNotes(r gitint.Root) bool {
	return r.Kind == gitint.RootRef && strings.HasPrefix(r.Name, "refs/notes/")
}

// notesTips makes tips of all files of notes: a note may be a complete stream, and its name does
// not show it.
func (m *marker) notesTips(ctx context.Context, all []gitint.Root) error {
	for _, root := range all {
		tree, err := m.o.Repo.Tree(ctx, root.OID.String())
		if err != nil {
			return err
		}
		files, err := tree.Entries(".")
		if err != nil {
			return err
		}
		t := &tip{title: root.Title(), kind: tipOther}
		for _, e := range files {
			if e.Mode.IsRegular() {
				t.files = append(t.files, stagedFile{e.Path, document{id: e.OID}})
			}
		}
		m.tips = append(m.tips, t)
	}
	return nil
}

// kindsOf returns the kinds of the roots' objects. A branch, its reflog and that of HEAD name the
// same one.
func kindsOf(
	ctx context.Context, repo *gitint.Repo, names []gitint.Root,
) (map[gitint.OID]string, error) {
	kinds := make(map[gitint.OID]string)
	var ids []gitint.OID
	for _, r := range names {
		if _, ok := kinds[r.OID]; !ok {
			kinds[r.OID] = ""
			ids = append(ids, r.OID)
		}
	}
	all, err := repo.ObjectKinds(ctx, ids)
	for i, kind := range all {
		kinds[ids[i]] = kind
	}
	return kinds, err
}

func (o *Options) peel(
	ctx context.Context, id gitint.OID, kind string,
) (gitint.OID, string, error) {
	for kind == "tag" {
		next, err := o.Repo.TagTarget(ctx, id)
		if err != nil {
			return id, "", err
		}
		kinds, err := o.Repo.ObjectKinds(ctx, []gitint.OID{next})
		if err != nil {
			return id, "", err
		}
		if kinds[0] == "" {
			return id, "", &gitint.MissingObjectError{OID: next}
		}
		id, kind = next, kinds[0]
	}
	return id, kind, nil
}

// root adds a root and the object that it names. An object that is no commit has no history: it is
// a tip, whatever its name.
func (m *marker) root(root gitint.Root, kind string) {
	t := &tip{title: root.Title(), commit: root.OID, kind: tipOther}
	switch kind {
	case "blob":
		m.tips = append(m.tips, &tip{
			title: root.Title(), kind: tipOther,
			files: []stagedFile{{document: document{id: root.OID}}},
		})
		return
	case "tree":
	case "commit":
		if _, ok := m.titles[root.OID]; !ok {
			m.commits = append(m.commits, root.OID)
			m.titles[root.OID] = root.Title()
		}
		switch root.Kind {
		case gitint.RootTag, gitint.RootReflog:
			return
		case gitint.RootRef, gitint.RootHead:
			t.kind = tipRef
		}
	}
	t.isTree, t.part = kind == "tree", root.Needed
	m.tips = append(m.tips, t)
}

// stashes adds the other parents of stash entries: the index, and files that were untracked.
func (m *marker) stashes(ctx context.Context, entries []gitint.Root) error {
	ids := lists.Map(entries, func(e gitint.Root) gitint.OID { return e.OID })
	err := m.o.Repo.CommitHeads(ctx, ids, func(i int, h gitint.CommitHead) error {
		for n, parent := range h.Parents {
			if n > 0 {
				root := entries[i]
				root.OID, root.Name = parent, fmt.Sprintf("%s^%d", root.Name, n+1)
				m.root(root, "commit")
			}
		}
		return nil
	})
	if err != nil {
		return m.absorb(ctx, err)
	}
	return nil
}

// operationFiles searches the files of operations in progress for hashes: a patch that is being
// applied may contain a stream.
func (m *marker) operationFiles() error {
	for _, f := range m.roots.Files {
		all, err := m.operationFile(f)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if len(all) > 0 {
			found := m.references.number(refs.Mentions{Loose: all})
			m.tips = append(m.tips, &tip{
				title: f.Name, kind: tipOther, disk: []diskFile{{f.Path, found}},
			})
		}
	}
	return nil
}

// operationFile searches one file. It parses the record of a conflict, which has the three sides of
// a stream in base64.
func (m *marker) operationFile(f gitint.RootFile) ([]blobs.Hash, error) {
	dir, name := regular.Dir(filepath.Dir(f.Path)), filepath.Base(f.Path)
	if !isRecord(f) {
		return hashesIn(dir, name)
	}
	const sides = 4
	data, err := readAll(dir, name, sides*m.trees.limits().OfStream())
	if err != nil {
		return nil, err
	}
	all, err := hashesInRecord(data)
	if err != nil {
		m.obstruct(Obstacle{Reason: gitint.ReasonOperation, Root: f.Name, Detail: err.Error()})
	}
	return all, nil
}

// expand finds the streams of the tips, and their references.
func (m *marker) expand(ctx context.Context) error {
	if err := m.findPlaces(ctx); err != nil {
		return err
	}
	err := m.expandAll(ctx, m.tips)
	if err == nil {
		m.judgeStreams()
		return nil
	}
	for _, t := range m.tips {
		one := m.expandAll(ctx, []*tip{t})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if one != nil {
			m.obstruct(Obstacle{Reason: reasonOf(one), Root: t.title, Detail: one.Error()})
			return m.refused()
		}
	}
	return m.absorb(ctx, err)
}

func (m *marker) expandAll(ctx context.Context, tips []*tip) error {
	trees := make([]gitint.OID, 0, len(tips))
	seen := make(map[gitint.OID]bool)
	for _, t := range tips {
		if id := t.place.Conversations; !id.IsZero() && !seen[id] {
			seen[id] = true
			trees = append(trees, id)
		}
	}
	lists, err := m.trees.units(ctx, trees)
	if err != nil {
		return err
	}
	var all []unit
	at := make(map[gitint.OID][]unit, len(trees))
	for i, id := range trees {
		at[id] = lists[i]
		all = append(all, lists[i]...)
	}
	if err := m.trees.list(ctx, all); err != nil {
		return err
	}
	var documents []document
	for _, t := range tips {
		t.units = at[t.place.Conversations]
		m.trees.eachDocument(t, func(d document, _ func() string) {
			documents = append(documents, d)
		})
	}
	return m.references.load(ctx, m.o, documents)
}

// findPlaces finds the workspaces of the tips; a tip with several becomes several.
func (m *marker) findPlaces(ctx context.Context) error {
	var commits, trees []gitint.OID
	for _, t := range m.tips {
		switch {
		case t.commit.IsZero():
		case t.isTree:
			trees = append(trees, t.commit)
		default:
			commits = append(commits, t.commit)
		}
	}
	if err := m.trees.locate(ctx, commits, false); err != nil {
		return m.blame(ctx, commits, false, err)
	}
	if err := m.trees.locate(ctx, trees, true); err != nil {
		return m.blame(ctx, trees, true, err)
	}
	var tips []*tip
	for _, t := range m.tips {
		if t.commit.IsZero() {
			tips = append(tips, t)
			continue
		}
		for _, p := range m.trees.places[t.commit] {
			one := *t
			one.place = p
			tips = append(tips, &one)
		}
	}
	m.tips = tips
	return nil
}

// blame finds the root whose object could not be read.
func (m *marker) blame(ctx context.Context, ids []gitint.OID, areTrees bool, err error) error {
	for _, id := range ids {
		one := m.trees.locate(ctx, []gitint.OID{id}, areTrees)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if one != nil {
			m.obstruct(Obstacle{
				Reason: reasonOf(one), Root: m.title(id), Detail: one.Error(),
			})
			return m.refused()
		}
	}
	return m.absorb(ctx, err)
}

func (m *marker) title(id gitint.OID) string {
	if t := m.titles[id]; t != "" {
		return t
	}
	return "commit " + id.String()[:12]
}

// judgeStreams makes an obstacle of each invalid stream.
func (m *marker) judgeStreams() {
	judged := make(map[document]bool)
	for _, t := range m.tips {
		m.trees.eachDocument(t, func(d document, name func() string) {
			if d.id.IsZero() && t.place.Kind == refs.Workspace {
				m.obstruct(Obstacle{
					Reason: ReasonIrregular, Root: t.title, Path: name(), Detail: notFile,
				})
			}
			found := m.references.known[d]
			if found.err == nil || judged[d] || !t.judges(found) {
				return
			}
			judged[d] = true
			m.obstruct(Obstacle{
				Reason: streamReason(found.dark, found.err), Root: t.title, Path: name(),
				Detail: found.err.Error(),
			})
		})
	}
}

// judges reports whether an invalid stream is an obstacle. In a workspace it is. Elsewhere
// everything in the form of a hash counts as a reference, so it is an obstacle only if it certainly
// belongs to a conversation and its references are unknown.
func (t *tip) judges(found mentions) bool {
	return t.place.Kind == refs.Workspace || t.place.Kind == refs.Copy && found.dark
}

// eachDocument calls f with the documents of a tip in git, and their paths.
func (c *treeCache) eachDocument(t *tip, f func(d document, name func() string)) {
	for _, file := range t.files {
		f(file.document, func() string { return file.path })
	}
	for _, u := range t.units {
		for _, file := range c.files(u) {
			f(document{file.Object, isStream(u, file)}, func() string {
				return filePath(t.place, u, file)
			})
		}
	}
}

// want marks all references of a tip.
func (m *marker) want(t *tip) {
	add := func(found mentions) {
		for _, n := range found.sure {
			m.wanted[n] = true
		}
		for _, n := range found.loose {
			m.wanted[n] = true
		}
	}
	for _, f := range t.disk {
		add(f.mentions)
	}
	m.trees.eachDocument(t, func(d document, _ func() string) { add(m.references.known[d]) })
}

// wants reports whether a tip refers to a content.
func (m *marker) wants(h blobs.Hash) bool {
	n, ok := m.hashes.find(h)
	return ok && int(n) < len(m.wanted) && m.wanted[n]
}

// present checks that all objects for which the cache answered still exist: without the cache a
// missing one would have been an error. If history was asked for nothing, nothing can be deleted,
// and it does not matter. The check runs in the background until wait is called.
func (m *marker) present(ctx context.Context, h *history) (wait func() error) {
	if len(h.references.hashes.all) == 0 {
		return func() error { return nil }
	}
	ids := slices.Collect(maps.Keys(m.trees.used))
	clear(m.trees.used)
	done := make(chan error, 1)
	go func() {
		missing, err := m.o.Repo.HasObject(ctx, ids)
		if err == nil && len(missing) > 0 {
			err = &gitint.MissingObjectError{OID: missing[0]}
		}
		done <- err
	}()
	return func() error {
		if err := <-done; err != nil {
			return m.absorb(ctx, err)
		}
		return nil
	}
}
