package gc_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/regular"
)

// The model of a repository: which conversations refer to which contents, and where both are. Of
// git it knows only commits, trees and names.

// A side has the files of a tree, an index or a working tree. Contents are numbers.
type side struct {
	convs map[string][]int // references of each, by directory
	blobs map[int]bool
}

func newSide() side { return side{map[string][]int{}, map[int]bool{}} }

func (s side) clone() side { return side{maps.Clone(s.convs), maps.Clone(s.blobs)} }

func (s side) equal(t side) bool {
	return maps.EqualFunc(s.convs, t.convs, slices.Equal) && maps.Equal(s.blobs, t.blobs)
}

// dangling returns the references of a side without their content.
func (s side) dangling() map[string]bool {
	all := map[string]bool{}
	for name, list := range s.convs {
		for _, c := range list {
			if !s.blobs[c] {
				all[idIn(name)+" "+hashOf(c).String()] = true
			}
		}
	}
	return all
}

// idIn returns the id of a conversation, also in the archive: if both have it, check reports a
// missing content once.
func idIn(dir string) string { return path.Base(dir) }

// A mcommit is a commit.
type mcommit struct {
	side
	parents []string
}

// A mtree is a working tree with its index.
type mtree struct {
	*fixture
	branch      string // "" when detached
	head        string
	index, work side
	astray      bool // git does not know its path
}

func (t *mtree) clean(m *world) bool {
	head := m.commits[t.head].side
	if !t.index.equal(head) || !maps.EqualFunc(t.work.convs, head.convs, slices.Equal) {
		return false
	}
	for c := range head.blobs {
		if !t.work.blobs[c] {
			return false
		}
	}
	return true
}

// A stashed is an entry of the stash.
type stashed struct {
	head string
	work side
}

// A world is a repository and its model.
type world struct {
	tb      testing.TB
	main    *mtree
	linked  []*mtree
	commits map[string]mcommit
	names   map[string]string // refs except branches
	heads   map[string]string // branches
	stash   []stashed
	ever    map[int]bool // referred to by any commit that ever existed
	content int
	made    int
	extra   map[string]side // other tips
	options gc.Options
	deleted int
	refused int
	ran     map[string]int
}

func contentOf(c int) []byte { return fmt.Appendf(nil, "content %d", c) }

func hashOf(c int) blobs.Hash { return blobs.Sum(contentOf(c)) }

// streamOf returns a stream in one line, so that two changes of it always conflict.
func streamOf(list []int) string {
	var b strings.Builder
	b.WriteString(`[{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"}` +
		`,{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"why"}`)
	for i, c := range list {
		ref := blobs.RefTo(contentOf(c))
		fmt.Fprintf(&b, `,{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_request",`+
			`"id":"call_%d","name":"read","arguments":{}},{"timestamp":"2026-01-01 00:00:00.0",`+
			`"type":"tool_call_response","id":"call_%d","content":[{"type":"text","content":`+
			`{"$blob":"%s","size":%d}}],"is_error":false}`, i, i, ref.Hash, ref.Size)
	}
	return b.String() + "]\n"
}

func newWorld(tb testing.TB) *world {
	r := gittest.Template(tb, "model", func(r *gittest.Repository) {
		f := &fixture{Repository: r, tb: tb}
		f.begin()
		f.WriteFile(".gitattributes", "* -text\n")
		f.Remove(".jp/conversations/.keep")
		f.WriteFile(".git/config", f.ReadFile(".git/config")+"[merge]\n\trenames = false\n"+
			"[diff]\n\trenames = false\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n"+
			"[rerere]\n\tenabled = false\n[commit]\n\tgpgSign = false\n")
		f.Commit("base")
	})
	f := fixtureAt(tb, r.Dir)
	f.Repository, f.grace = r, 0
	id := r.Run("rev-parse", "HEAD")
	f.withCache()
	m := &world{
		tb: tb, commits: map[string]mcommit{id: {side: newSide()}}, names: map[string]string{},
		heads: map[string]string{"main": id}, ever: map[int]bool{}, ran: map[string]int{},
		extra: map[string]side{},
	}
	m.main = &mtree{fixture: f, branch: "main", head: id, index: newSide(), work: newSide()}
	m.reopen()
	return m
}

// reopen opens the repository and the workspace as another command does.
func (m *world) reopen() {
	m.options = m.main.options()
	m.options.AcceptMissing = true
}

func (m *world) trees() []*mtree { return append([]*mtree{m.main}, m.linked...) }

// --- what is needed according to the model

// wanted returns the contents that must not be deleted from the store of the main worktree.
func (m *world) wanted() map[int]bool {
	all := map[int]bool{}
	tip := func(s side) {
		for _, list := range s.convs {
			for _, c := range list {
				all[c] = true
			}
		}
	}
	var roots []string
	for _, t := range m.trees() {
		tip(t.index)
		tip(t.work)
		tip(m.commits[t.head].side)
		roots = append(roots, t.head)
	}
	for _, s := range m.extra {
		tip(s)
	}
	for _, s := range m.stash {
		tip(s.work)
		roots = append(roots, s.head)
	}
	for _, id := range m.heads {
		tip(m.commits[id].side)
		roots = append(roots, id)
	}
	for name, id := range m.names {
		if !strings.HasPrefix(name, "refs/tags/") {
			tip(m.commits[id].side)
		}
		roots = append(roots, id)
	}
	seen := map[string]bool{}
	for len(roots) > 0 {
		id := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		c := m.commits[id]
		for _, list := range c.convs {
			for _, n := range list {
				if !c.blobs[n] {
					all[n] = true
				}
			}
		}
		roots = append(roots, c.parents...)
	}
	return all
}

// --- comparing the model with the repository

// read reads a working tree.
func (m *world) read(t *mtree) side {
	s := newSide()
	base := t.Path(".jp/conversations")
	_ = filepath.WalkDir(base, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "events.json" {
			rel, _ := filepath.Rel(base, filepath.Dir(name))
			s.convs[rel] = m.referencesIn(name)
		}
		return nil
	})
	for c := range m.content {
		if t.has(hashOf(c)) {
			s.blobs[c] = true
		}
	}
	return s
}

func (m *world) referencesIn(name string) []int {
	data, err := os.ReadFile(name)
	if err != nil {
		m.tb.Fatal(err)
	}
	var list []int
	for c := range m.content {
		if strings.Contains(string(data), hashOf(c).String()) {
			list = append(list, c)
		}
	}
	return list
}

// compare compares the repository with the model: files, index and HEAD of the main worktree, the
// last two as check sees them.
func (m *world) compare(what string) {
	m.tb.Helper()
	t := m.main
	if now := m.read(t); !now.equal(sorted(t.work)) {
		m.tb.Fatalf("%s: the working tree has %v, the model %v", what, now, sorted(t.work))
	}
	ctx := m.tb.Context()
	x, err := m.options.Repo.Index(ctx)
	if err != nil {
		m.tb.Fatal(err)
	}
	m.checked(what+": index", check.Git(m.options.Repo, x), t.index)
	head, err := m.options.Repo.Head(ctx)
	if err != nil || head.OID.String() != t.head {
		m.tb.Fatalf("%s: HEAD is %v, the model has %s (%v)", what, head, t.head, err)
	}
	tree, err := m.options.Repo.Tree(ctx, head.OID.String())
	if err != nil {
		m.tb.Fatal(err)
	}
	m.checked(what+": HEAD", check.Git(m.options.Repo, tree), m.commits[t.head].side)
	work, err := check.OpenWorkTree(t.Dir, regular.Limits{})
	if err != nil {
		m.tb.Fatal(err)
	}
	defer work.Close() // was only read
	m.checked(what+": working tree", work, t.work)
}

// sorted sorts the references of each conversation, without duplicates.
func sorted(s side) side {
	out := s.clone()
	for name, list := range out.convs {
		list = slices.Clone(list)
		slices.Sort(list)
		out.convs[name] = slices.Compact(list)
	}
	return out
}

// checked verifies that check finds the missing contents of the model.
func (m *world) checked(what string, src check.Source, s side) {
	m.tb.Helper()
	report, err := check.Tree(m.tb.Context(), src, check.Options{Cache: m.options.Cache})
	if err != nil {
		m.tb.Fatalf("%s: %v", what, err)
	}
	found := map[string]bool{}
	for _, f := range report.Findings {
		if f.State == check.Missing {
			found[idIn(path.Dir(f.Path))+" "+f.Hash.String()] = true
		}
	}
	if want := s.dangling(); !maps.Equal(found, want) {
		m.tb.Fatalf("%s: check finds %v, the model has %v", what, found, want)
	}
}

// collect runs a collection and compares the result with the model: nothing wanted is deleted, and
// content that was never referred to is not kept.
func (m *world) collect(keepIndex bool) {
	m.tb.Helper()
	o := m.options
	o.KeepIndex = keepIndex
	wanted := m.wanted()
	p, err := gc.MakePlan(m.tb.Context(), o)
	if err != nil {
		m.tb.Fatalf("plan: %v", err)
	}
	res, err := gc.Sweep(m.tb.Context(), o, p)
	if err != nil {
		m.tb.Fatalf("sweep: %v", err)
	}
	if len(res.Doubts) > 0 {
		m.tb.Fatalf("the mark alone would have deleted what is wanted: %v", res.Doubts)
	}
	gone := map[blobs.Hash]bool{}
	for _, i := range res.Moved {
		gone[i.Hash] = true
	}
	for c := range m.main.work.blobs {
		switch h := hashOf(c); {
		case gone[h] && wanted[c]:
			m.tb.Fatalf("content %d was deleted, and is wanted", c)
		case gone[h]:
			delete(m.main.work.blobs, c)
			if !keepIndex {
				delete(m.main.index.blobs, c)
			}
			m.deleted++
		case !wanted[c] && !m.ever[c]:
			m.tb.Fatalf("content %d is still there, and nobody ever referred to it", c)
		}
	}
	m.back(m.main, wanted)
	m.undone(res.Run)
}

// back records what a collection restored from expired runs: what is wanted again, also by
// ORIG_HEAD, and nothing else.
func (m *world) back(t *mtree, wanted map[int]bool) {
	m.tb.Helper()
	for c := range m.content {
		if t.work.blobs[c] || !t.has(hashOf(c)) {
			continue
		}
		if !wanted[c] && !m.wantedBefore(c) {
			m.tb.Fatalf("content %d has come back to %s, and nobody wants it", c, t.Dir)
		}
		t.work.blobs[c] = true
	}
}

// wantedBefore reports whether the ORIG_HEAD of a working tree refers to a content.
func (m *world) wantedBefore(c int) bool {
	for _, t := range m.trees() {
		id := t.tryRun("rev-parse", "-q", "--verify", "ORIG_HEAD")
		for _, list := range m.commits[id].convs {
			if slices.Contains(list, c) {
				return true
			}
		}
	}
	return false
}

// undone undoes every third run at once.
func (m *world) undone(run string) {
	m.tb.Helper()
	if run == "" || m.deleted%3 != 0 {
		return
	}
	res, err := gc.Undo(m.tb.Context(), m.options, run)
	if err != nil {
		m.tb.Fatalf("undo: %v", err)
	}
	for c := range m.content {
		if slices.Contains(res.Blobs, hashOf(c)) {
			m.main.work.blobs[c] = true
			name := ".jp/blobs/" + hashOf(c).Path()
			if slices.Contains(res.Indexed, name) {
				m.main.index.blobs[c] = true
			}
			if err := os.Chtimes(m.main.Path(name), old, old); err != nil {
				m.tb.Fatal(err)
			}
		}
	}
}

// judge asks git, commit by commit, for the simplest reading of the promise: a content that any
// commit refers to without having the blob must be in the store if it was before.
func (m *world) judge(before map[int]bool) {
	m.tb.Helper()
	all := strings.FieldsSeq(m.main.Run("rev-list", "--all", "--reflog"))
	for id := range all {
		list := m.main.Run("ls-tree", "-r", id, ".jp")
		for line := range strings.Lines(list) {
			head, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if !strings.HasSuffix(name, "/events.json") {
				continue
			}
			data := m.main.Run("cat-file", "blob", strings.Fields(head)[2])
			for c := range m.content {
				if h := hashOf(c); before[c] && strings.Contains(data, h.String()) &&
					!strings.Contains(list, h.Path()) && !m.main.has(h) {
					m.tb.Fatalf("commit %s has lost content %d", id, c)
				}
			}
		}
	}
}
