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

// A history searches for contents that an older commit refers to without having the blob: the file
// in the store may be the last copy. It searches only for some contents, the candidates.
//
// Consecutive commits mostly have the same trees, so what both share is counted once and only
// differences are examined.
type history struct {
	o          *Options
	trees      *treeCache
	references *referenceCache
	commits    []gitint.OID // all that are reachable from roots
	steps      []step

	// The state of the current step: how many documents refer to each candidate, the referenced
	// candidates for each fan-out directory, and the fan-out directories.
	refers   []int32
	referred map[string]map[int32]struct{}
	fanouts  map[string]gitint.OID

	questions map[question]gitint.OID // with a commit that asks
	boards    []gitint.OID            // directories in fan-out directories with answers
	found     []verdict               // by candidate
	last      []*lastMention
	damaged   map[document]string // invalid streams of old commits
}

// A verdict is the result of the search for a candidate.
type verdict struct {
	needed   bool
	by       gitint.OID              // the commit that lacks it
	carriers map[gitint.OID]struct{} // its objects in commits
}

// A lastMention is the last reference to a candidate.
type lastMention struct {
	commit gitint.OID
	path   string // of the document
}

// A step is a workspace of a commit, compared with that of the step before.
type step struct {
	commit gitint.OID
	place  refs.Place

	gone, fresh []unit
	was, is     []fanout
}

func newHistory(o *Options, f *treeCache, candidates *hashes) *history {
	n := len(candidates.all)
	return &history{
		o: o, trees: f, references: newReferenceCache(f, candidates, true),
		refers: make([]int32, n), referred: make(map[string]map[int32]struct{}),
		fanouts: make(map[string]gitint.OID), questions: make(map[question]gitint.OID),
		found: make([]verdict, n), last: make([]*lastMention, n),
		damaged: make(map[document]string),
	}
}

// mark examines commits, newest first.
func (h *history) mark(ctx context.Context, commits []gitint.OID) error {
	if err := h.trees.locate(ctx, commits, false); err != nil {
		return err
	}
	h.plan(commits)
	if err := h.compareConversations(ctx); err != nil {
		return err
	}
	if err := h.compareStores(ctx); err != nil {
		return err
	}
	for i := range h.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		h.take(&h.steps[i])
		h.o.progress("history", i+1, len(h.steps))
	}
	return h.judgeQuestions(ctx)
}

// plan makes a step for each workspace that differs from all before.
func (h *history) plan(commits []gitint.OID) {
	type key struct{ conversations, blobs gitint.OID }
	seen := make(map[key]bool)
	for _, c := range commits {
		for _, p := range h.trees.places[c] {
			k := key{p.Conversations, p.Blobs}
			if !p.Conversations.IsZero() && p.Kind != refs.Notes && !seen[k] {
				seen[k] = true
				h.steps = append(h.steps, step{commit: c, place: p})
			}
		}
	}
	// Different workspaces share nothing.
	slices.SortStableFunc(h.steps, func(a, b step) int {
		return strings.Compare(a.place.Dir, b.place.Dir)
	})
}

// A chain is a list of trees in which neighbours are compared. Equal neighbours are read once.
type chain struct {
	ids   []gitint.OID
	steps []int // the first step of each
}

// chain returns the chain of the wanted steps; nil wants all.
func (h *history) chain(of func(refs.Place) gitint.OID, wanted []bool) chain {
	var c chain
	for i, s := range h.steps {
		if wanted != nil && !wanted[i] {
			continue
		}
		id := of(s.place)
		if len(c.ids) == 0 || c.ids[len(c.ids)-1] != id {
			c.ids, c.steps = append(c.ids, id), append(c.steps, i)
		}
	}
	return c
}

// compare reads the trees of a chain and calls differs with each difference from the one before.
// The zero id is an empty tree.
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
	// Trees may be returned in another order; they are compared in that of the chain.
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
	err := h.trees.repo.ReadTrees(ctx, ids, func(i int, t gitint.TreeData) error {
		pending[at[i]] = t
		advance()
		return nil
	})
	advance()
	return err
}

func (h *history) compareConversations(ctx context.Context) error {
	var units []unit
	c := h.chain(func(p refs.Place) gitint.OID { return p.Conversations }, nil)
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
	if err := h.trees.list(ctx, units); err != nil {
		return err
	}
	var all []document
	for _, u := range units {
		for _, f := range h.trees.files(u) {
			all = append(all, document{f.Object, isStream(u, f)})
		}
	}
	return h.references.load(ctx, h.o, all)
}

// asking reports for each step whether a document of it refers to a candidate. If none does, the
// content of its store does not matter; most commits refer to none.
func (h *history) asking() []bool {
	asking := make([]bool, len(h.steps))
	refers, referred := make([]int32, len(h.refers)), 0
	count := func(units []unit, by int32) {
		for _, u := range units {
			for _, f := range h.trees.files(u) {
				m := h.references.known[document{f.Object, isStream(u, f)}]
				for _, list := range [][]int32{m.sure, m.loose} {
					for _, n := range list {
						before := refers[n] > 0
						refers[n] += by
						if after := refers[n] > 0; after != before {
							referred += int(by)
						}
					}
				}
			}
		}
	}
	for i, s := range h.steps {
		count(s.gone, -1)
		count(s.fresh, 1)
		asking[i] = referred > 0
	}
	return asking
}

// compareStores records which fan-out directories differ between the steps that ask, of those that
// can have a candidate.
func (h *history) compareStores(ctx context.Context) error {
	wanted := make(map[string]bool)
	for _, c := range h.references.hashes.all {
		wanted[hex.EncodeToString(c[:1])] = true
	}
	c := h.chain(func(p refs.Place) gitint.OID { return p.Blobs }, h.asking())
	return h.compare(ctx, c, func(s *step, e gitint.Entry, gone bool) {
		at := fanout{e.Path, e.OID}
		switch {
		case e.Mode != gitint.ModeDir || !wanted[e.Path]:
		case gone:
			s.was = append(s.was, at)
		default:
			s.is = append(s.is, at)
		}
	})
}

// A question asks whether a fan-out directory has a candidate to which the commit refers.
type question struct {
	number int32
	fanout fanout // a zero id means it is missing
}

// take advances to a step. It asks only about referenced candidates that the step affects, since
// most commits refer to none.
func (h *history) take(s *step) {
	touched := make(map[int32]struct{})
	for _, u := range s.gone {
		h.count(s, u, -1, touched)
	}
	for _, u := range s.fresh {
		h.count(s, u, 1, touched)
	}
	for _, at := range s.was {
		h.fanouts[at.name] = gitint.OID{}
	}
	for _, at := range s.is {
		h.fanouts[at.name] = at.id
	}
	for _, list := range [][]fanout{s.was, s.is} {
		for _, at := range list {
			for n := range h.referred[at.name] {
				touched[n] = struct{}{}
			}
		}
	}
	for n := range touched {
		if h.refers[n] <= 0 {
			continue
		}
		name := h.shelfOf(n)
		q := question{n, fanout{name, h.fanouts[name]}}
		if _, asked := h.questions[q]; !asked {
			h.questions[q] = s.commit
		}
	}
}

func (h *history) shelfOf(n int32) string {
	return hex.EncodeToString(h.references.hashes.all[n][:1])
}

// count adds or subtracts the references of a unit.
func (h *history) count(s *step, u unit, by int32, touched map[int32]struct{}) {
	for _, f := range h.trees.files(u) {
		d := document{f.Object, isStream(u, f)}
		m := h.references.known[d]
		if m.err == nil && len(m.sure)+len(m.loose) == 0 {
			continue
		}
		name := filePath(s.place, u, f)
		if m.err != nil && s.place.Kind != refs.Stray {
			h.damaged[d] = name
		}
		for _, list := range [][]int32{m.sure, m.loose} {
			for _, n := range list {
				h.refer(n, by)
				touched[n] = struct{}{}
				if h.last[n] == nil {
					h.last[n] = &lastMention{s.commit, name}
				}
			}
		}
	}
}

func (h *history) refer(n, by int32) {
	h.refers[n] += by
	name := h.shelfOf(n)
	if h.refers[n] <= 0 {
		delete(h.referred[name], n)
		return
	}
	if h.referred[name] == nil {
		h.referred[name] = make(map[int32]struct{})
	}
	h.referred[name][n] = struct{}{}
}

// judgeQuestions reads the fan-out directories of the questions, and the directories in them that
// can have a candidate.
func (h *history) judgeQuestions(ctx context.Context) error {
	carried, err := h.candidatesIn(ctx)
	if err != nil {
		return err
	}
	for q, commit := range h.questions {
		v := &h.found[q.number]
		id := carried[q.fanout][q.number]
		if id.IsZero() {
			v.needed = true
			if v.by.IsZero() {
				v.by = commit
			}
			continue
		}
		if v.carriers == nil {
			v.carriers = make(map[gitint.OID]struct{}, 1)
		}
		v.carriers[id] = struct{}{}
	}
	return nil
}

// candidatesIn returns the objects of the candidates in each fan-out directory.
func (h *history) candidatesIn(ctx context.Context) (map[fanout]map[int32]gitint.OID, error) {
	wanted := make(map[string]bool)
	all := make(map[fanout]map[int32]gitint.OID)
	var fanouts []fanout
	for q := range h.questions {
		c := h.references.hashes.all[q.number]
		wanted[hex.EncodeToString(c[:2])] = true
		if _, ok := all[q.fanout]; !ok && !q.fanout.id.IsZero() {
			all[q.fanout] = make(map[int32]gitint.OID)
			fanouts = append(fanouts, q.fanout)
		}
	}
	read, err := h.trees.readFanouts(ctx, fanouts, func(dir string) bool { return wanted[dir] })
	for i, at := range read {
		for _, b := range at.boards {
			h.boards = append(h.boards, b.id)
			for _, file := range b.files {
				if n, ok := h.references.hashes.find(file.Hash); ok {
					all[fanouts[i]][n] = file.Object
				}
			}
		}
	}
	return all, err
}

// judgeCarriers checks whether the blob of a candidate exists in git, and not a Git LFS pointer or
// an encrypted or damaged file in its place. Otherwise the commit that has it counts as lacking the
// content.
func (h *history) judgeCarriers(ctx context.Context) error {
	var ids []gitint.OID
	var of []int
	for n := range h.found {
		for id := range h.found[n].carriers {
			ids, of = append(ids, id), append(of, n)
		}
	}
	return h.trees.repo.ReadObjectsOf(ctx, ids, func(int64) bool { return true },
		func(i int, size int64, data []byte, err error) error {
			n := of[i]
			if size < 0 || err != nil || !blobs.IsFileOf(data, h.references.hashes.all[n]) {
				h.found[n].needed = true
			}
			return ctx.Err()
		})
}

// needs reports whether an older commit needs a candidate.
func (h *history) needs(n int) bool { return h.found[n].needed }

// notes reports damaged streams in old commits.
func (h *history) notes() (notes []string, dark []Obstacle) {
	for d, name := range h.damaged {
		if h.references.known[d].dark {
			dark = append(dark, Obstacle{
				Reason: ReasonOpaque, Root: "history", Path: name,
				Detail: "is not a readable stream",
			})
			continue
		}
		notes = append(notes, fmt.Sprintf(
			"an old %s is damaged: everything in it that looks like a reference counts", name))
	}
	return notes, dark
}
