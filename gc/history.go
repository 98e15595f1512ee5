package gc

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
)

// A history looks for contents that an older commit refers to and has not itself: the file in
// the store may be the last copy. Only some contents are asked for, the candidates.
//
// A commit that follows another mostly has the same trees, so what both have is counted once
// and only what differs is looked at.
type history struct {
	o       *Options
	forest  *forest
	library *library
	steps   []step

	refers  []int32 // by candidate: how many documents of the current step
	carries []gitint.OID
	found   []verdict // by candidate
	last    []*lastMention
	damaged map[document]string // streams of old commits that are none
}

// A verdict is what history says about a candidate.
type verdict struct {
	needed    bool
	by        gitint.OID // the commit that has it not
	mentioned bool
	carriers  map[gitint.OID]struct{} // the objects of it that commits have
}

// A lastMention is where a candidate was last referred to.
type lastMention struct {
	commit gitint.OID
	path   string // of the document
}

// A step is a workspace of a commit, and how it differs from that of the step before.
type step struct {
	commit gitint.OID
	place  refs.Place

	gone, fresh []unit
	was, is     []shelf
}

// A shelf is a directory at the top of a store.
type shelf struct {
	name string
	id   gitint.OID
}

func newHistory(o *Options, f *forest, candidates *hashes) *history {
	n := len(candidates.all)
	return &history{
		o: o, forest: f, library: newLibrary(f, candidates, true),
		refers: make([]int32, n), carries: make([]gitint.OID, n), found: make([]verdict, n),
		last:    make([]*lastMention, n),
		damaged: make(map[document]string),
	}
}

// mark goes through commits, newest first.
func (h *history) mark(ctx context.Context, commits []gitint.OID) error {
	if err := h.forest.locate(ctx, commits, false); err != nil {
		return err
	}
	h.plan(commits)
	if err := h.compareConversations(ctx); err != nil {
		return err
	}
	if err := h.compareStores(ctx); err != nil {
		return err
	}
	shelves, err := h.readShelves(ctx)
	if err != nil {
		return err
	}
	for i := range h.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		h.take(&h.steps[i], shelves)
		h.o.progress("history", i+1, len(h.steps))
	}
	return h.judgeCarriers(ctx)
}

// plan makes a step of each workspace that differs from all before.
func (h *history) plan(commits []gitint.OID) {
	type key struct{ conversations, blobs refs.ObjectID }
	seen := make(map[key]bool)
	for _, c := range commits {
		for _, p := range h.forest.places[c] {
			k := key{p.Conversations, p.Blobs}
			if p.Conversations != "" && !seen[k] {
				seen[k] = true
				h.steps = append(h.steps, step{commit: c, place: p})
			}
		}
	}
	// Workspaces side by side have nothing in common.
	slices.SortStableFunc(h.steps, func(a, b step) int {
		return strings.Compare(a.place.Dir, b.place.Dir)
	})
}

// A chain is trees in an order in which neighbours are compared. Equal neighbours are read
// once.
type chain struct {
	ids   []gitint.OID
	steps []int // the first step of each
}

func (h *history) chain(of func(refs.Place) refs.ObjectID) chain {
	var c chain
	for i, s := range h.steps {
		id := oid(of(s.place))
		if len(c.ids) == 0 || c.ids[len(c.ids)-1] != id {
			c.ids, c.steps = append(c.ids, id), append(c.steps, i)
		}
	}
	return c
}

// compare reads the trees of a chain and tells what each has not in common with the one
// before. The zero id is an empty tree.
func (h *history) compare(
	ctx context.Context, c chain, differs func(s *step, e gitint.Entry, gone bool),
) error {
	ids, at := make([]gitint.OID, 0, len(c.ids)), make([]int, 0, len(c.ids))
	var before gitint.TreeData
	last := -1
	visit := func(i int, t gitint.TreeData) {
		s := &h.steps[c.steps[i]]
		t.Differences(before, func(e gitint.Entry, gone bool) { differs(s, e, gone) })
		before, last = t, i
	}
	pending := make(map[int]gitint.TreeData)
	// Trees may be told in another order than they were asked for; that of the chain counts.
	advance := func() {
		for last+1 < len(c.ids) {
			t, ok := pending[last+1]
			if !ok && !c.ids[last+1].IsZero() {
				return
			}
			delete(pending, last+1)
			visit(last+1, t)
		}
	}
	for i, id := range c.ids {
		if !id.IsZero() {
			ids, at = append(ids, id), append(at, i)
		}
	}
	advance()
	err := h.forest.repo.ReadTrees(ctx, ids, func(i int, t gitint.TreeData) error {
		pending[at[i]] = t
		advance()
		return nil
	})
	advance()
	return err
}

func (h *history) compareConversations(ctx context.Context) error {
	var units []unit
	c := h.chain(func(p refs.Place) refs.ObjectID { return p.Conversations })
	err := h.compare(ctx, c, func(s *step, e gitint.Entry, gone bool) {
		u, ok := unitOf(e)
		switch {
		case !ok:
		case gone:
			s.gone = append(s.gone, u)
		default:
			s.fresh = append(s.fresh, u)
			units = append(units, u)
		}
	})
	if err != nil {
		return err
	}
	if err := h.forest.list(ctx, units); err != nil {
		return err
	}
	var all []document
	for _, u := range units {
		for _, f := range h.forest.files(u) {
			all = append(all, document{f.Object, isStream(u, f)})
		}
	}
	return h.library.load(ctx, h.o, all)
}

// compareStores notes which shelves differ, of those on which a candidate can be.
func (h *history) compareStores(ctx context.Context) error {
	wanted := make(map[string]bool)
	for _, c := range h.library.hashes.all {
		wanted[hex.EncodeToString(c[:1])] = true
	}
	c := h.chain(func(p refs.Place) refs.ObjectID { return p.Blobs })
	return h.compare(ctx, c, func(s *step, e gitint.Entry, gone bool) {
		at := shelf{e.Path, e.OID}
		switch {
		case e.Mode != gitint.ModeDir || !wanted[e.Path]:
		case gone:
			s.was = append(s.was, at)
		default:
			s.is = append(s.is, at)
		}
	})
}

// A carried is a candidate on a shelf.
type carried struct {
	number int32
	id     gitint.OID
}

// readShelves reads those directories of the shelves in which a candidate can be.
func (h *history) readShelves(ctx context.Context) (map[shelf][]carried, error) {
	wanted := make(map[string]bool)
	for _, c := range h.library.hashes.all {
		wanted[hex.EncodeToString(c[:2])] = true
	}
	all := make(map[shelf][]carried)
	var shelves []shelf
	var ids []gitint.OID
	for _, s := range h.steps {
		for _, at := range s.is {
			if _, ok := all[at]; !ok {
				all[at] = nil
				shelves, ids = append(shelves, at), append(ids, at.id)
			}
		}
	}
	type board struct {
		shelf shelf
		name  string
	}
	boards, below := []board(nil), []gitint.OID(nil)
	err := h.forest.repo.ReadTrees(ctx, ids, func(i int, t gitint.TreeData) error {
		t.Entries(func(e gitint.Entry) {
			if e.Mode == gitint.ModeDir && wanted[shelves[i].name+e.Path] {
				boards = append(boards, board{shelves[i], e.Path})
				below = append(below, e.OID)
			}
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = h.forest.repo.ReadTrees(ctx, below, func(i int, t gitint.TreeData) error {
		at := boards[i]
		t.Entries(func(e gitint.Entry) {
			hash, ok := blobs.ParsePath(at.shelf.name + "/" + at.name + "/" + e.Path)
			if !ok || !e.Mode.IsRegular() {
				return
			}
			if n, ok := h.library.hashes.find(hash); ok {
				all[at.shelf] = append(all[at.shelf], carried{n, e.OID})
			}
		})
		return nil
	})
	return all, err
}

// take goes on to a step, and judges what has changed with it.
func (h *history) take(s *step, shelves map[shelf][]carried) {
	touched := make(map[int32]struct{})
	count := func(u unit, by int32) {
		for _, f := range h.forest.files(u) {
			d := document{f.Object, isStream(u, f)}
			m := h.library.known[d]
			name := filePath(s.place.Dir, u, f)
			if m.err != nil {
				h.damaged[d] = name
			}
			for _, list := range [][]int32{m.sure, m.loose} {
				for _, n := range list {
					h.refers[n] += by
					touched[n] = struct{}{}
					if h.last[n] == nil {
						h.last[n] = &lastMention{s.commit, name}
					}
				}
			}
		}
	}
	for _, u := range s.gone {
		count(u, -1)
	}
	for _, u := range s.fresh {
		count(u, 1)
	}
	for _, at := range s.was {
		for _, c := range shelves[at] {
			h.carries[c.number] = gitint.OID{}
			touched[c.number] = struct{}{}
		}
	}
	for _, at := range s.is {
		for _, c := range shelves[at] {
			h.carries[c.number] = c.id
			touched[c.number] = struct{}{}
		}
	}
	for n := range touched {
		h.judge(n, s)
	}
}

func (h *history) judge(n int32, s *step) {
	if h.refers[n] <= 0 {
		return
	}
	v := &h.found[n]
	v.mentioned = true
	id := h.carries[n]
	if id.IsZero() {
		if !v.needed {
			v.needed, v.by = true, s.commit
		}
		return
	}
	if v.carriers == nil {
		v.carriers = make(map[gitint.OID]struct{}, 1)
	}
	v.carriers[id] = struct{}{}
}

// smallest is a size below which an object may be a Git LFS pointer.
const smallest = 1024

// judgeCarriers looks whether what carries a candidate is here, and no pointer. Otherwise the
// commit that has it does not carry the content.
func (h *history) judgeCarriers(ctx context.Context) error {
	var ids []gitint.OID
	var of []int
	for n := range h.found {
		for id := range h.found[n].carriers {
			ids, of = append(ids, id), append(of, n)
		}
	}
	sizes, err := h.forest.repo.ObjectSizes(ctx, ids)
	if err != nil {
		return err
	}
	var small []gitint.OID
	var smallOf []int
	for i, size := range sizes {
		switch {
		case size < 0:
			h.found[of[i]].needed = true
		case size < smallest:
			small, smallOf = append(small, ids[i]), append(smallOf, of[i])
		}
	}
	return h.forest.repo.ReadObjects(ctx, small, func(i int, data []byte, err error) error {
		if err != nil || blobs.IsPointer(data) {
			h.found[smallOf[i]].needed = true
		}
		return ctx.Err()
	})
}

// note says what was damaged and long past.
func (h *history) notes() (notes []string, dark []Obstacle) {
	for d, name := range h.damaged {
		if h.library.known[d].dark {
			dark = append(dark, Obstacle{
				Reason: ReasonOpaque, Root: "history", Path: name,
				Detail: "is no stream that can be read",
			})
			continue
		}
		notes = append(notes, fmt.Sprintf(
			"an old %s is damaged: everything in it that looks like a content counts", name))
	}
	return notes, dark
}
