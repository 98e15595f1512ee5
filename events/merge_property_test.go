package events_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"pgregory.net/rapid"
)

// merge merges two commits as git does: with the best of their common ancestors as base, or, if
// there are several, with the merge of those.
func (h *history) merge(a, b *commit, virtual bool) *commit {
	switch {
	case a == b || a.ancestors[b]:
		return a
	case b.ancestors[a]:
		return b
	}
	bases := bestCommon(a, b)
	base := bases[0]
	for _, other := range bases[1:] {
		base = h.merge(base, other, true)
	}
	c := &commit{
		clock: max(a.clock, b.clock), parents: []*commit{a, b},
		ancestors: maps.Clone(a.ancestors), ops: maps.Clone(a.ops),
		conflict: a.conflict || b.conflict || base.conflict,
	}
	maps.Copy(c.ancestors, b.ancestors)
	maps.Copy(c.ops, b.ops)
	c.ancestors[a], c.ancestors[b] = true, true
	h.mergeInto(c, [3]*commit{base, a, b}, virtual)
	return c
}

// pick applies the change of a commit to another, as git cherry-pick does.
func (h *history) pick(onto, what *commit) *commit {
	c := &commit{
		clock: max(onto.clock, what.clock), parents: []*commit{onto},
		ancestors: maps.Clone(onto.ancestors), ops: maps.Clone(onto.ops),
		conflict: onto.conflict || what.conflict,
	}
	c.ancestors[onto] = true
	for id := range what.ops {
		if !what.parents[0].ops[id] {
			c.ops[id] = true
		}
	}
	h.mergeInto(c, [3]*commit{what.parents[0], onto, what}, false)
	return c
}

// revert undoes the appending of a turn, as git revert does: with the commit as base and its parent
// as theirs. That removes the turn with its deltas.
func (h *history) revert(onto *commit) *commit {
	what := onto
	for range h.n("back", 0, 3) {
		if len(what.parents) == 1 {
			what = what.parents[0]
		}
	}
	if !what.appended || len(what.parents) != 1 || !h.untouched(what.turn) || h.picked[what.turn] {
		return onto
	}
	return h.change(onto, func(_ *commit, o *op) []byte {
		o.what, o.turn = "remove", what.turn
		r, err := threeway.Merge(h.side(what), h.side(onto), h.side(what.parents[0]))
		if err != nil || len(r.Conflicts) > 0 {
			h.Fatalf("revert: %v, %d conflicts\n%s", err, len(r.Conflicts), onto.stream)
		}
		return r.Stream.Encode()
	})
}

// mergeInto sets a commit to the result of a merge, and checks it.
func (h *history) mergeInto(c *commit, of [3]*commit, virtual bool) {
	base, a, b := of[0], of[1], of[2]
	*h.merges++
	c.name = fmt.Sprintf("m%d", *h.merges)
	h.Logf("%s: %s and %s, base %s, virtual %t", c.name, a.name, b.name, base.name, virtual)
	m := threeway.Merge
	if virtual {
		m = threeway.VirtualBase
	}
	r, err := m(h.side(base), h.side(a), h.side(b))
	if err != nil {
		h.Fatalf("merge: %v\nbase   %s\nours   %s\ntheirs %s", err, base.stream, a.stream, b.stream)
	}
	c.stream, c.config = r.Stream.Encode(), r.BaseConfig
	c.conflict = c.conflict || len(r.Conflicts) > 0
	h.Logf("%s is %s", c.name, h.outline(c.stream))
	if _, err := events.Decode(c.stream); err != nil {
		h.Fatalf("the result does not decode: %v\n%s", err, c.stream)
	}
	if virtual {
		return
	}
	if len(r.Conflicts) > 0 && !h.mayConflict(c) {
		h.Fatalf("unexpected conflict %s in turn %s\nbase   %s\nours   %s\ntheirs %s",
			r.Conflicts[0].Kind, r.Conflicts[0].Turn, base.stream, a.stream, b.stream)
	}
	if !c.conflict {
		h.checkCommit(c, func() string {
			return fmt.Sprintf("base   %s\nours   %s\ntheirs %s\nresult %s",
				base.stream, a.stream, b.stream, c.stream)
		})
	}
}

// outline shows the order of a stream: each turn by its number, with the times of the turns that it
// records.
func (h *history) outline(stream []byte) string {
	elems := h.elems(stream)
	var out []string
	for _, b := range h.blocks(elems) {
		turn := fmt.Sprint(b.turn)
		if parents := h.entry(elems[b.events[0]]).Metadata["git_jp_parent"]; parents != nil {
			var names []string
			_ = json.Unmarshal(parents, &names)
			for i, name := range names {
				plain, _ := base64.StdEncoding.DecodeString(name)
				names[i], _, _ = strings.Cut(string(plain), "/")
				names[i] = strings.Replace(names[i], "17672256", "", 1)
			}
			turn += fmt.Sprint(names)
		}
		out = append(out, turn)
	}
	return strings.Join(out, " ")
}

func (h *history) side(c *commit) threeway.Side {
	s, err := events.Decode(c.stream)
	if err != nil {
		h.Fatal(err)
	}
	return threeway.Side{Stream: s, BaseConfig: c.config}
}

// bestCommon returns the common ancestors that are not ancestors of others.
func bestCommon(a, b *commit) []*commit {
	var common []*commit
	for c := range a.ancestors {
		if b.ancestors[c] {
			common = append(common, c)
		}
	}
	var best []*commit
	for _, c := range common {
		if !slices.ContainsFunc(common, func(d *commit) bool { return d.ancestors[c] }) {
			best = append(best, c)
		}
	}
	sort.Slice(best, func(i, j int) bool { return bytes.Compare(best[i].stream, best[j].stream) < 0 })
	return best
}

// opsOf returns the operations of one kind that a commit contains.
func (h *history) opsOf(c *commit, what string) []*op {
	var ops []*op
	for _, o := range h.ops {
		if c.ops[o.id] && o.what == what {
			ops = append(ops, o)
		}
	}
	return ops
}

// mayConflict reports whether two of the operations are such that only a person can decide the
// result.
func (h *history) mayConflict(c *commit) bool {
	edits := append(h.opsOf(c, "edit"), h.opsOf(c, "continue")...)
	for _, a := range edits {
		for _, b := range edits {
			if a != b && !a.before(b) && !b.before(a) && a.what == b.what && a.turn == b.turn &&
				(a.what == "continue" || a.uid == b.uid) {
				return true
			}
		}
		for _, r := range h.opsOf(c, "remove") {
			if r.turn == a.turn && !r.before(a) && !a.before(r) {
				return true
			}
		}
	}
	return false
}

// checkCommit compares a stream with the result of its operations.
func (h *history) checkCommit(c *commit, show func() string) {
	elems := h.elems(c.stream)
	h.checkEvents(c, elems, show)
	h.checkConfigs(c, elems, show)
	h.checkCompactions(c, elems, show)
}

// checkEvents compares the events with the operations: everything that was created and not removed,
// as it was last edited, turn by turn, each turn complete and in order.
func (h *history) checkEvents(c *commit, elems []string, show func() string) {
	removed := map[int]bool{}
	for _, o := range h.opsOf(c, "remove") {
		removed[o.turn] = true
	}
	want := map[int][]string{}
	for _, o := range append(h.opsOf(c, "append"), h.opsOf(c, "continue")...) {
		if !removed[o.turn] {
			want[o.turn] = append(want[o.turn], o.uids...)
		}
	}
	texts := map[string]string{}
	for _, o := range h.opsOf(c, "edit") { // in the order in which they were made
		texts[o.uid] = o.text
	}
	got := map[int][]string{}
	for _, b := range h.blocks(elems) {
		if got[b.turn] != nil {
			h.Fatalf("turn %d is in several pieces\n%s", b.turn, show())
		}
		for _, i := range b.events {
			uid, text := h.uid(elems[i], h.entry(elems[i]))
			if uid == "" {
				continue // a turn_start
			}
			got[b.turn] = append(got[b.turn], uid)
			was := h.texts[uid]
			if texts[uid] != "" {
				was = texts[uid]
			}
			if text != was {
				h.Fatalf("%s says %q, not %q\n%s", uid, text, was, show())
			}
		}
	}
	for turn := range h.turns {
		if !slices.Equal(got[turn], want[turn]) {
			h.Fatalf("turn %d has %v, not %v\n%s", turn, got[turn], want[turn], show())
		}
	}
	for _, o := range h.opsOf(c, "unknown") {
		if n := strings.Count(string(c.stream), `"`+o.uids[0]+":x"); n != 1 {
			h.Fatalf("unknown element %s is there %d times\n%s", o.uids[0], n, show())
		}
	}
}

// checkConfigs compares the configuration that each turn runs with to the one it had when it was
// created.
func (h *history) checkConfigs(c *commit, elems []string, show func() string) {
	if len(h.opsOf(c, "swap")) > 0 {
		return // then it changes
	}
	for _, b := range h.blocks(elems) {
		if got := h.fold(c.config, elems[:b.events[0]]); got != h.configs[b.turn] {
			h.Fatalf("turn %d runs under %q, not %q\n%s", b.turn, got, h.configs[b.turn], show())
		}
	}
}

// checkCompactions compares the ranges with the turns that they were created for.
func (h *history) checkCompactions(c *commit, elems []string, show func() string) {
	got := map[string][]int{}
	for _, elem := range elems {
		if e := h.entry(elem); e.Type == "compaction" {
			got[e.Timestamp] = append(got[e.Timestamp], h.covered(elems, e.From, e.To)...)
		}
	}
	var there []int
	for _, b := range h.blocks(elems) {
		there = append(there, b.turn)
	}
	for mark, turns := range got {
		var want []int
		for _, t := range h.covers[mark] {
			if slices.Contains(there, t) {
				want = append(want, t)
			}
		}
		slices.Sort(turns)
		slices.Sort(want)
		if h.summary[mark] || h.cut[mark] {
			want = slices.DeleteFunc(want, func(t int) bool { return !slices.Contains(turns, t) })
		}
		if !slices.Equal(turns, want) || len(turns) == 0 {
			h.Fatalf("compaction %s covers %v, not %v\n%s", mark, turns, want, show())
		}
	}
	removed := h.opsOf(c, "remove")
	for _, o := range h.opsOf(c, "compact") {
		if got[o.mark] == nil && len(removed) == 0 {
			h.Fatalf("compaction %s is gone\n%s", o.mark, show())
		}
	}
}

// untouched reports whether no operation changed a turn after it was created.
func (h *history) untouched(turn int) bool {
	return !slices.ContainsFunc(h.ops, func(o *op) bool {
		return o.turn == turn && o.what != "append"
	})
}

// mergeAll merges the tips in random order until one commit has all of them.
func (h *history) mergeAll(tips []*commit, label string) *commit {
	pool := slices.Clone(tips)
	has := func(c *commit) bool {
		for _, t := range tips {
			if c != t && !c.ancestors[t] {
				return false
			}
		}
		return true
	}
	for range 12 {
		a := h.n(label+" one", 0, len(pool)-1)
		b := h.n(label+" other", 0, len(pool)-1)
		c := h.merge(pool[a], pool[b], false)
		if has(c) {
			return c
		}
		if !slices.Contains(pool, c) {
			pool = append(pool, c)
		}
	}
	c := pool[len(pool)-1]
	for _, t := range tips {
		c = h.merge(c, t, false)
	}
	return c
}

// mergeCount counts the histories of a run.
type mergeCount struct{ histories, merges, conflicts, finals, compared int }

// story creates a history with several branches and merges them in several ways. Each merge checks
// its result; story checks that all ways lead to the same bytes.
func story(rt *rapid.T, count *mergeCount) {
	h := newHistory(rt, &count.merges)
	count.histories++
	base := h.begin()
	tips := make([]*commit, h.n("branches", 2, 4))
	for i := range tips {
		tips[i] = h.work(base)
	}
	if !h.collide && h.one(3, "cherry-pick") {
		from, to := h.n("from", 0, len(tips)-1), h.n("to", 0, len(tips)-1)
		what := tips[from]
		if from != to && what.appended && h.untouched(what.turn) && h.untouched(-1) {
			h.picked[what.turn] = true
			tips[to] = h.pick(tips[to], what)
		}
	}
	if h.one(2, "criss-cross") { // some merge each other and continue
		for range h.n("more", 1, 2) {
			a, b := h.n("one", 0, len(tips)-1), h.n("other", 0, len(tips)-1)
			m := h.merge(tips[a], tips[b], false)
			n := h.merge(tips[b], tips[a], false)
			tips = append(tips, h.work(m), h.work(n))
		}
	}
	var first *commit
	for i := range 3 {
		c := h.mergeAll(tips, fmt.Sprint("way ", i))
		count.finals++
		if c.conflict {
			count.conflicts++
			return
		}
		if first == nil {
			first = c
		}
		moved := len(h.opsOf(c, "swap")) > 0 &&
			(len(h.opsOf(c, "remove")) > 0 || len(h.picked) > 0)
		if moved || h.loose {
			continue // docs/merge.md explains why the order can differ then
		}
		count.compared++
		// If several set the same key of the base configuration one wins, and another may have won
		// an earlier merge without it.
		sameConfig := bytes.Equal(first.config, c.config) || len(h.opsOf(c, "base")) > 1
		if !h.sameStream(first, c) || !sameConfig {
			rt.Fatalf("two ways, two results:\n%s\n%s", first.stream, c.stream)
		}
	}
}

// sameStream compares two streams byte for byte. They may differ in the layout between elements
// after everything was reformatted, and in the order of elements that are not events in one place:
// if one side equals base both keep their bytes, and any other merge writes the layout of a new
// file.
func (h *history) sameStream(a, b *commit) bool {
	x, y := h.elems(a.stream), h.elems(b.stream)
	if slices.Equal(x, y) {
		return bytes.Equal(a.stream, b.stream) || len(h.opsOf(a, "reformat")) > 0
	}
	if len(h.opsOf(a, "unknown")) == 0 && len(h.opsOf(a, "compact")) == 0 {
		return false
	}
	h.sortPlaces(x)
	h.sortPlaces(y)
	return slices.Equal(x, y)
}

// sortPlaces sorts the elements between two events.
func (h *history) sortPlaces(elems []string) {
	start := 0
	for i, elem := range elems {
		if !isGlobal(h.entry(elem).Type) {
			slices.Sort(elems[start:i])
			start = i + 1
		}
	}
	slices.Sort(elems[start:])
}

// The short run has the same histories each time. The long one prints its seed, so that it can be
// repeated with -rapid.seed.
func TestMergeHistories(t *testing.T) {
	checks, seed := "500", "1"
	if os.Getenv("GIT_JP_SOAK") != "" {
		checks, seed = "100000", strconv.FormatInt(time.Now().UnixNano(), 10)
	}
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		setFlag(t, "rapid.seed", seed)
	}
	if flag.Lookup("rapid.checks").Value.String() == "100" {
		setFlag(t, "rapid.checks", checks)
	}
	t.Logf("seed %s", flag.Lookup("rapid.seed").Value)
	var count mergeCount
	rapid.Check(t, func(rt *rapid.T) { story(rt, &count) })
	share := 100 * float64(count.conflicts) / float64(count.finals)
	t.Logf("%d histories, %d merges, a conflict in %.1f %% of %d, %d compared to the byte",
		count.histories, count.merges, share, count.finals, count.compared)
	if share > 20 {
		t.Errorf("a conflict in %.1f %% of the merges", share)
	}
}

// setFlag sets a flag for one test.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	old := flag.Lookup(name).Value.String()
	t.Cleanup(func() { _ = flag.Set(name, old) })
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
}
