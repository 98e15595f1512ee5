package recheck

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
)

const (
	jpDir            = ".jp"
	storeDir         = "blobs"
	conversationsDir = "conversations"
)

// A target is a tree to search.
type target struct {
	root   string // its name in findings
	commit oid    // "" if the tree itself is named
	tree   oid
	// carries is true if a hash is allowed where the blob is beside it.
	carries bool
	// whole is true if the tree may be any part of a directory .jp.
	whole bool
}

// A place is a directory of a target that has conversations.
type place struct {
	target *target
	path   string
	dir    oid
	*content
}

// A content records what is known of a directory .jp, or of a directory with conversations
// elsewhere, such as in branches made by git subtree split.
type content struct {
	dir    oid    // a directory .jp yet to be read; "" if the kids are known
	store  oid    // of the blobs, "" if there is none
	ids    []oid  // of files that contain its name
	kids   []node // until the hashes are known
	hashes []int32
	known  bool
}

// A question asks whether a fan-out directory of a store has a blob.
type question struct {
	number int32
	dir    oid
}

// A step is a tree outside of any directory .jp that must be searched.
type step struct {
	target *target
	id     oid
	path   string
	copies bool // it is in a directory of conversations
}

// below returns the step to a subtree.
func (s step) below(e entry) step {
	name := string(e.name)
	return step{s.target, e.id, path.Join(s.path, name), s.copies || name == conversationsDir}
}

// A stepKey identifies equal steps.
type stepKey struct {
	id              oid
	carries, copies bool
}

// trees remembers the content of git's trees and files, which never changes for a given name.
type trees struct {
	git *git
	*batch
	watch *watch
	seen  map[stepKey]struct{}
	tops  map[oid]*content // directories .jp
	sets  map[node][]int32 // the hashes in a file, or in all files of a tree
	// equal has one copy of each distinct set.
	equal   map[string][]int32
	carried map[question]bool
}

func newTrees(w *watch) *trees {
	return &trees{
		watch: w, seen: make(map[stepKey]struct{}), tops: make(map[oid]*content),
		sets: make(map[node][]int32), equal: make(map[string][]int32),
		carried: make(map[question]bool),
	}
}

// enter reports whether a tree is yet to be searched. If the tree was searched for a target that
// must not have a hash at all, its blobs need no check.
func (t *trees) enter(s step) bool {
	k := stepKey{s.id, s.target.carries, s.copies}
	strict := k
	strict.carries = false
	_, done := t.seen[k]
	_, stricter := t.seen[strict]
	t.seen[k] = struct{}{}
	return !done && !stricter
}

// find returns the places of targets that were not found before.
func (t *trees) find(ctx context.Context, targets []target) ([]place, error) {
	var found []place
	var level []step
	for i := range targets {
		one := &targets[i]
		if one.whole {
			c := &content{kids: []node{{id: one.tree}}}
			found = append(found, place{target: one, dir: one.tree, content: c})
		}
		if s := (step{target: one, id: one.tree}); t.enter(s) {
			level = append(level, s)
		}
	}
	for len(level) > 0 {
		ids := make([]oid, len(level))
		for i, s := range level {
			ids[i] = s.id
		}
		var next []step
		err := t.entries(ctx, ids, func(i int, all []entry) {
			found = append(found, t.places(level[i], all)...)
			for _, e := range all {
				if e.file || isWorkspace(e) {
					continue
				}
				s := level[i].below(e)
				if t.enter(s) {
					next = append(next, s)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		level = next
	}
	return found, nil
}

func isWorkspace(e entry) bool { return strings.EqualFold(string(e.name), jpDir) }

// isStream reports whether a file is a stream, or a copy of one, by its name.
func isStream(name string) bool { return strings.HasPrefix(name, "events.json") }

// places returns the places in one tree: its directories .jp, its directory of conversations with
// the store beside it, and its own files if one is a stream.
func (t *trees) places(s step, all []entry) []place {
	var found []place
	copies, lone := new(content), new(content)
	isLone := !s.target.carries && areNotes(all)
	for _, e := range all {
		switch name := string(e.name); {
		case e.file:
			if name == idFile {
				copies.ids = append(copies.ids, e.id)
			}
			lone.kids = append(lone.kids, e.node)
			isLone = isLone || isStream(name)
		case isWorkspace(e):
			p := place{target: s.target, path: path.Join(s.path, name), dir: e.id}
			p.content = t.top(e.id)
			found = append(found, p)
		case name == storeDir:
			copies.store = e.id
		case name == conversationsDir:
			copies.kids = []node{e.node}
		}
	}
	if s.copies {
		return found // a directory of conversations has them among its own
	}
	if copies.kids != nil {
		found = append(found, place{
			s.target, path.Join(s.path, conversationsDir), copies.kids[0].id, copies,
		})
	}
	if isLone {
		found = append(found, place{s.target, s.path, s.id, lone})
	}
	return found
}

// areNotes reports whether a tree can be one of git notes, which may be streams: it has files that
// are named like objects, perhaps without the digits of the directories around them, and nothing
// else but such directories.
func areNotes(all []entry) bool {
	notes := 0
	for _, e := range all {
		digits := len(e.name)
		_, err := hex.DecodeString(string(e.name))
		switch {
		case err != nil:
			return false
		case e.file && (34 <= digits && digits <= 40 || 58 <= digits && digits <= 64):
			notes++
		case e.file || digits != 2:
			return false
		}
	}
	return notes > 0
}

func (t *trees) top(id oid) *content {
	if t.tops[id] == nil {
		t.tops[id] = &content{dir: id}
	}
	return t.tops[id]
}

// learn finds the hashes in the files of places.
func (t *trees) learn(ctx context.Context, places []place) error {
	var fresh []*content
	for _, p := range places {
		if !p.known {
			p.known = true
			fresh = append(fresh, p.content)
		}
	}
	if err := t.readTops(ctx, fresh); err != nil {
		return err
	}
	var roots []node
	for _, c := range fresh {
		roots = append(roots, c.kids...)
	}
	kids, files, err := t.below(ctx, roots)
	if err == nil {
		err = t.readFiles(ctx, files)
	}
	if err != nil {
		return err
	}
	for _, c := range fresh {
		c.hashes, c.kids = t.union(c.kids, kids), nil
	}
	return nil
}

// readTops reads directories .jp, and the entries of their stores that are not blobs.
func (t *trees) readTops(ctx context.Context, all []*content) error {
	var tops []*content
	var ids, stores []oid
	for _, c := range all {
		if c.dir != "" {
			tops, ids = append(tops, c), append(ids, c.dir)
		}
	}
	err := t.entries(ctx, ids, func(i int, all []entry) {
		for _, e := range all {
			if !e.file && string(e.name) == storeDir {
				tops[i].store = e.id
				stores = append(stores, e.id)
				continue
			}
			if e.file && string(e.name) == idFile {
				tops[i].ids = append(tops[i].ids, e.id)
			}
			tops[i].kids = append(tops[i].kids, e.node)
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(stores)
	stores = slices.Compact(stores)
	others := make(map[oid][]node)
	err = t.entries(ctx, stores, func(i int, all []entry) {
		for _, e := range all {
			if e.file || !isShelf(string(e.name)) {
				others[stores[i]] = append(others[stores[i]], e.node)
			}
		}
	})
	for _, c := range tops {
		c.kids = append(c.kids, others[c.store]...)
	}
	return err
}

// isShelf reports whether a directory of a store is a fan-out directory, which has blobs.
func isShelf(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 2 && strings.ToLower(name) == name
}

// below lists the entries of trees that were not read before, level by level, and all files.
func (t *trees) below(
	ctx context.Context, level []node,
) (kids map[node][]node, files []oid, err error) {
	kids = make(map[node][]node)
	queued := make(map[node]bool)
	for len(level) > 0 {
		var ids []oid
		for _, n := range level {
			_, known := t.sets[n]
			switch {
			case known || queued[n]:
			case n.file:
				files = append(files, n.id)
			default:
				ids = append(ids, n.id)
			}
			queued[n] = true
		}
		level = nil
		err := t.entries(ctx, ids, func(i int, all []entry) {
			nodes := make([]node, len(all))
			for j, e := range all {
				nodes[j] = e.node
			}
			kids[node{id: ids[i]}] = nodes
			level = append(level, nodes...)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return kids, files, nil
}

// readFiles searches files, each once.
func (t *trees) readFiles(ctx context.Context, files []oid) error {
	return t.objects(ctx, files, func(i int, _ string, r io.Reader) error {
		found, err := t.watch.in(r)
		if err == nil {
			t.sets[node{files[i], true}] = t.intern(found)
		}
		return err
	})
}

// set returns the hashes in a file or below a tree, after everything below it was read.
func (t *trees) set(n node, kids map[node][]node) []int32 {
	found, ok := t.sets[n]
	if !ok {
		found = t.union(kids[n], kids)
		t.sets[n] = found
	}
	return found
}

func (t *trees) union(nodes []node, kids map[node][]node) []int32 {
	var all []int32
	for _, n := range nodes {
		all = append(all, t.set(n, kids)...)
	}
	slices.Sort(all)
	return t.intern(slices.Compact(all))
}

// intern keeps one copy of equal sets: few change from one commit to the next.
func (t *trees) intern(set []int32) []int32 {
	if len(set) == 0 {
		return nil
	}
	key := make([]byte, 0, 4*len(set))
	for _, n := range set {
		key = append(key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	known, ok := t.equal[string(key)]
	if !ok {
		known = slices.Clone(set)
		t.equal[string(key)] = known
	}
	return known
}

// uncarried returns for each place the hashes whose blob it lacks.
func (t *trees) uncarried(ctx context.Context, places []place) ([][]int32, error) {
	shelves, err := t.shelves(ctx, places)
	if err != nil {
		return nil, err
	}
	ask := func(p place, n int32) question {
		return question{n, shelves[p.store][t.watch.hashes[n].String()[:2]]}
	}
	var open []question
	for _, p := range places {
		for _, n := range p.hashes {
			q := ask(p, n)
			if _, ok := t.carried[q]; !ok {
				t.carried[q] = false
				if q.dir != "" {
					open = append(open, q)
				}
			}
		}
	}
	if err := t.answer(ctx, open); err != nil {
		return nil, err
	}
	lacking := make([][]int32, len(places))
	for i, p := range places {
		for _, n := range p.hashes {
			if !t.carried[ask(p, n)] {
				lacking[i] = append(lacking[i], n)
			}
		}
	}
	return lacking, nil
}

// shelves returns the fan-out directories, by name, of the stores of places that have hashes.
func (t *trees) shelves(ctx context.Context, places []place) (map[oid]map[string]oid, error) {
	all := make(map[oid]map[string]oid)
	var stores []oid
	for _, p := range places {
		store := p.store
		if len(p.hashes) > 0 && store != "" && all[store] == nil {
			all[store] = make(map[string]oid)
			stores = append(stores, store)
		}
	}
	err := t.entries(ctx, stores, func(i int, entries []entry) {
		for _, e := range entries {
			if !e.file {
				all[stores[i]][string(e.name)] = e.id
			}
		}
	})
	return all, err
}

// answer finds out which directories have a blob: an object that exists and has the content, not a
// pointer as of Git LFS nor an encrypted or damaged file.
func (t *trees) answer(ctx context.Context, open []question) error {
	names := make([]string, len(open))
	for i, q := range open {
		names[i] = q.dir.hex() + ":" + t.watch.hashes[q.number].Path()[len("00/"):]
	}
	infos, err := t.infos(ctx, names)
	if err != nil {
		return err
	}
	var ids []oid
	var asking []question
	for i, one := range infos {
		if one.kind == "blob" {
			ids, asking = append(ids, one.id), append(asking, open[i])
		}
	}
	return t.objects(ctx, ids, func(i int, _ string, r io.Reader) error {
		q := asking[i]
		t.carried[q] = isFileOf(r, t.watch.hashes[q.number])
		return nil
	})
}

// isFileOf reports whether a file has the content with a hash. If reading it fails, the caller,
// which reads the rest of the object, reports that.
func isFileOf(file io.Reader, h blobs.Hash) bool {
	content, err := gzip.NewReader(file)
	if err != nil {
		return false
	}
	sum := sha256.New()
	_, err = io.Copy(sum, content)
	return err == nil && blobs.Hash(sum.Sum(nil)) == h
}
