package threeway

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/events"
)

// A mergeTurn is a turn that some version has, or that one records as the parent of another.
type mergeTurn struct {
	key turnKey
	// hash distinguishes turns with the same key. It is the hash of their first request in a
	// version or in the result, in hex, computed on demand.
	hash   [versions + 1]string
	in     [versions]*sideTurn
	par    [versions]*mergeTurn // nil if the version does not know it
	parent *mergeTurn           // the parent in the result
	turnContent
}

// A turnTree holds the turns of all versions: which of them match, and which follows which.
type turnTree struct {
	equality

	streams [versions]*sideStream
	turns   []*mergeTurn // in no order
	byKey   map[turnKey][]*mergeTurn
	root    *mergeTurn   // the parent of turns that follow no other
	places  []*mergeTurn // in the order of the result, including removed turns
	looking int          // the version whose content distinguishes turns with the same key
}

// newRoot returns the parent of turns that follow no other. It is identified by its address.
func newRoot() *mergeTurn { return &mergeTurn{key: turnKey{noTime, noTime}} }

// matchTurns matches the turns of the versions. A turn matches the one of base that has its key,
// even if its content has changed. Two turns that both sides added match if they begin with the
// same request or share an answer: one side may have cherry-picked the turn of the other and one of
// them may have edited the request.
func (tt *turnTree) matchTurns() {
	var sides [versions]map[turnKey][]*sideTurn
	var keys []turnKey
	for v, s := range tt.streams {
		sides[v] = map[turnKey][]*sideTurn{}
		for _, t := range s.turns {
			if tt.byKey[t.key] == nil {
				tt.byKey[t.key] = []*mergeTurn{}
				keys = append(keys, t.key)
			}
			sides[v][t.key] = append(sides[v][t.key], t)
		}
	}
	for _, k := range keys {
		tt.matchKey(k, sides[inBase][k], sides[inOurs][k], sides[inTheirs][k])
	}
}

func (tt *turnTree) matchKey(k turnKey, base, ours, theirs []*sideTurn) {
	for _, t := range base {
		tt.addTurn(k, inBase, t)
	}
	for v, turns := range [versions][]*sideTurn{inOurs: ours, inTheirs: theirs} {
		left := turns
		if len(base) > 0 {
			left = tt.matchBase(v, base, turns)
		}
		if v == inTheirs {
			mine := slices.DeleteFunc(slices.Clone(ours), func(t *sideTurn) bool {
				return t.merged.in[inBase] != nil
			})
			take := func(o, t *sideTurn) { o.merged.in[v], t.merged = t, o.merged }
			left = pairUp(mine, left, tt.sameRequest(), false, take)
			left = pairUp(unpaired(mine, v), left, tt.overlap(), false, take)
		}
		for _, t := range left {
			tt.addTurn(k, v, t)
		}
	}
}

// matchBase matches the turns of base with those of a side that have the same key: by their
// requests, then by any event that they share, then in order. It returns the turns that the side
// added.
func (tt *turnTree) matchBase(v int, base, turns []*sideTurn) []*sideTurn {
	take := func(b, t *sideTurn) { b.merged.in[v], t.merged = t, b.merged }
	left := pairUp(base, turns, tt.sameRequest(), false, take)
	if len(left) > 1 || len(left) == 1 && len(base) > 1 {
		left = pairUp(unpaired(base, v), left, tt.overlap(), false, take)
	}
	return pairUp(unpaired(base, v), left, tt.overlap(), true, take)
}

// unpaired returns the turns without a counterpart in a version.
func unpaired(turns []*sideTurn, version int) []*sideTurn {
	return slices.DeleteFunc(slices.Clone(turns), func(t *sideTurn) bool {
		return t.merged.in[version] != nil
	})
}

func (tt *turnTree) addTurn(k turnKey, version int, t *sideTurn) {
	t.merged = &mergeTurn{key: k}
	t.merged.in[version] = t
	tt.turns = append(tt.turns, t.merged)
	tt.byKey[k] = append(tt.byKey[k], t.merged)
}

// readParents finds the parent of each turn in each version.
//
// That is the recorded parent or, without a record, the preceding turn. Records are trusted only as
// long as all of them together give the order of the turns in the file; otherwise turns were moved
// by hand.
func (tt *turnTree) readParents() {
	tt.root = newRoot()
	for v := range tt.streams {
		tt.looking = v
		tt.readRecords(v)
		if !tt.inOrder(v) {
			for _, t := range tt.turns {
				t.par[v] = nil
			}
			tt.readPredecessors(v)
		}
	}
}

// readRecords reads the recorded parents: for a turn, the turn that it follows and some ancestors
// of that turn. Ancestors that were missing when the record was written are marked and stay
// parents. One that is missing without a mark was removed since, and the turn follows the next
// ancestor instead.
func (tt *turnTree) readRecords(v int) {
	tt.readPredecessors(v)
	for _, s := range tt.streams[v].turns {
		child := s.merged
		for _, name := range s.record {
			parent := tt.turnNamed(name, v)
			missing := strings.HasPrefix(name, missingMark)
			there := parent == tt.root || parent.in[v] != nil
			if !there && !missing {
				continue
			}
			if child.par[v] = parent; there {
				break
			}
			child = parent
		}
	}
}

// missingMark precedes the name of a turn that was missing when it was recorded.
const missingMark = "!" // a time before 1970 begins with "-"

// ordinalMark precedes the ordinal of a turn among indistinguishable ones.
const ordinalMark = "~"

func (tt *turnTree) readPredecessors(v int) {
	last := tt.root
	for _, s := range tt.streams[v].turns {
		s.merged.par[v] = last
		last = s.merged
	}
}

// inOrder reports whether the parents of a version give its order.
func (tt *turnTree) inOrder(v int) bool {
	s := tt.streams[v]
	if !slices.ContainsFunc(s.turns, func(t *sideTurn) bool { return t.record != nil }) {
		return true
	}
	i := 0
	known := func(t *mergeTurn) *mergeTurn { return t.knownParent(v) }
	there := func(t *mergeTurn) bool { return t.in[v] != nil }
	for _, t := range tt.walk(func(t *mergeTurn) *mergeTurn {
		if there(t) {
			return known(t)
		}
		return tt.firstThere(known(t), there, known)
	}) {
		if t.in[v] == nil {
			continue
		}
		if s.turns[i].merged != t {
			return false
		}
		i++
	}
	return true
}

// knownParent returns the parent in the version, or else in base.
func (t *mergeTurn) knownParent(v int) *mergeTurn {
	if t.par[v] == nil {
		return t.par[inBase]
	}
	return t.par[v]
}

// mergeParents decides which turn follows which, and with it the order of the result.
func (tt *turnTree) mergeParents() {
	tt.looking = inResult
	tt.rekey()
	for _, t := range tt.turns {
		b, o, th := t.par[inBase], t.par[inOurs], t.par[inTheirs]
		switch hasO, hasT := t.in[inOurs] != nil, t.in[inTheirs] != nil; {
		case hasO && !hasT: // the side that has the turn knows more than one that only records it
			th = nil
		case hasT && !hasO:
			o = nil
		}
		switch {
		case o == nil && th == nil:
			t.parent = b
		case o == nil:
			t.parent = th
		case th == nil:
			t.parent = o
		default:
			t.parent = choose(b, o, th, sameTurn, tt.followed)
		}
	}
	for _, t := range tt.turns {
		if t.events == nil {
			t.parent = tt.firstThere(t.parent, (*mergeTurn).inResult, mergedParent)
		}
	}
	tt.places = tt.walk(mergedParent)
}

// rekey gives each turn of the result the key under which it will be read. That is another one if
// the event that the key is from was removed, and the one before it by the other side.
func (tt *turnTree) rekey() {
	for _, t := range tt.turns {
		if len(t.events) == 0 {
			continue
		}
		k := keyOf(t.events)
		if k == t.key {
			continue
		}
		tt.byKey[t.key] = slices.DeleteFunc(tt.byKey[t.key], func(other *mergeTurn) bool {
			return other == t
		})
		t.key = k
		tt.byKey[k] = append(tt.byKey[k], t)
	}
}

func (tt *turnTree) isThere(t *mergeTurn) bool { return t == tt.root || t.events != nil }

func (t *mergeTurn) inResult() bool { return t.events != nil }

func mergedParent(t *mergeTurn) *mergeTurn { return t.parent }

// firstThere returns t or its nearest ancestor that exists. Removed turns stay in the tree, so the
// order in which ancestors were removed does not matter.
func (tt *turnTree) firstThere(
	t *mergeTurn, there func(*mergeTurn) bool, parent func(*mergeTurn) *mergeTurn,
) *mergeTurn {
	for range tt.turns {
		if t == nil || t == tt.root || there(t) {
			break
		}
		t = parent(t)
	}
	return t
}

// followed chooses between two parents: the one that is in the result. If both were removed, it is
// the one that the other follows, because the side that recorded it saw the other removed. After
// turns were moved each can follow the other; then that says nothing.
func (tt *turnTree) followed(a, b *mergeTurn) *mergeTurn {
	x, y := tt.isThere(a), tt.isThere(b)
	if !x && !y {
		x, y = tt.follows(b, a), tt.follows(a, b)
	}
	switch {
	case x && !y:
		return a
	case y && !x, tt.compare(a, b) <= 0:
		return b
	default:
		return a
	}
}

// follows reports whether a version has t after other, directly or not.
func (tt *turnTree) follows(t, other *mergeTurn) bool {
	for v := range tt.streams {
		p := t.knownParent(v)
		for n := 0; p != nil && n < len(tt.turns); n++ {
			if p == other {
				return true
			}
			p = p.knownParent(v)
		}
	}
	return false
}

func sameTurn(a, b *mergeTurn) bool { return a == b }

// compare orders turns by their keys.
func (tt *turnTree) compare(a, b *mergeTurn) int {
	if a == b {
		return 0
	}
	if c := a.key.compare(b.key); c != 0 {
		return c
	}
	if c := strings.Compare(tt.hashOf(a), tt.hashOf(b)); c != 0 {
		return c
	}
	return tt.ordinal(a) - tt.ordinal(b)
}

// ordinal returns the position of a turn among those with the same key and hash.
func (tt *turnTree) ordinal(t *mergeTurn) int {
	n := 0
	for _, other := range tt.byKey[t.key] {
		if other == t {
			break
		}
		if tt.hashOf(other) == tt.hashOf(t) {
			n++
		}
	}
	return n
}

// walk returns all turns, each before its children, and siblings in the order of their keys.
// Removed turns keep their place in the tree, so that their children keep their place among the
// others.
func (tt *turnTree) walk(parent func(*mergeTurn) *mergeTurn) []*mergeTurn {
	children := make(map[*mergeTurn][]*mergeTurn, len(tt.turns))
	for _, t := range tt.turns {
		p := parent(t)
		if p == nil {
			p = tt.root
		}
		children[p] = append(children[p], t)
	}
	for _, t := range tt.cycles(parent) {
		p := parent(t)
		children[p] = slices.DeleteFunc(children[p], func(c *mergeTurn) bool { return c == t })
		children[tt.root] = append(children[tt.root], t)
	}
	order := make([]*mergeTurn, 0, len(tt.turns))
	stack := []*mergeTurn{tt.root}
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t != tt.root {
			order = append(order, t)
		}
		below := children[t]
		slices.SortFunc(below, func(a, b *mergeTurn) int { return tt.compare(b, a) })
		stack = append(stack, below...)
	}
	return order
}

// cycles returns the turn with the smallest key of each cycle of parents.
func (tt *turnTree) cycles(parent func(*mergeTurn) *mergeTurn) []*mergeTurn {
	var found []*mergeTurn
	run := make(map[*mergeTurn]int, len(tt.turns)) // the iteration in which a turn was first seen
	for n, t := range tt.turns {
		p := t
		for ; p != nil && p != tt.root && run[p] == 0; p = parent(p) {
			run[p] = n + 1
		}
		if p == nil || p == tt.root || run[p] != n+1 {
			continue
		}
		smallest := p
		for q := parent(p); q != p; q = parent(q) {
			if tt.compare(q, smallest) < 0 {
				smallest = q
			}
		}
		found = append(found, smallest)
	}
	return found
}

// hashOf returns the hash that distinguishes a turn from others with the same key, in the version
// given by tt.looking.
func (tt *turnTree) hashOf(t *mergeTurn) string {
	if t.hash[tt.looking] == "" {
		t.hash[tt.looking] = "-"
		if q := firstRequest(tt.eventsSeen(t)); q != nil {
			sum := tt.sum(q)
			t.hash[tt.looking] = hex.EncodeToString(sum[:8])
		}
	}
	return t.hash[tt.looking]
}

// eventsSeen returns the events of a turn in the version given by tt.looking, or else in any.
func (tt *turnTree) eventsSeen(t *mergeTurn) []*events.Element {
	switch {
	case tt.looking == inResult && t.events != nil:
		return t.events
	case tt.looking != inResult && t.in[tt.looking] != nil:
		return t.in[tt.looking].events
	}
	for _, s := range t.in {
		if s != nil {
			return s.events
		}
	}
	return nil
}

// name returns the name of a turn in records: its key, followed by the hash only if there are
// others with that key.
func (tt *turnTree) name(t *mergeTurn) string {
	if t == tt.root {
		return ""
	}
	name := t.key.String()
	if len(tt.byKey[t.key]) > 1 {
		name += "." + tt.hashOf(t)
		if n := tt.ordinal(t); n > 0 {
			name += ordinalMark + strconv.Itoa(n)
		}
	}
	return name
}

// String returns the key as it is written in records.
func (k turnKey) String() string {
	b := strconv.AppendInt(nil, k.start, 10)
	if k.request == noTime {
		return string(b)
	}
	return string(strconv.AppendInt(append(b, '/'), k.request, 10))
}

// turnNamed returns the turn with the given name in a version. If no version has it, it is added as
// a turn that once existed.
func (tt *turnTree) turnNamed(name string, v int) *mergeTurn {
	if name == "" {
		return tt.root
	}
	k, hash, ok := parseTurnName(name)
	if !ok {
		return tt.root
	}
	hash, which, _ := strings.Cut(hash, ordinalMark)
	n, _ := strconv.Atoi(which)
	var best *mergeTurn
	for _, t := range tt.byKey[k] {
		switch {
		case hash != "" && tt.hashOf(t) == hash:
			if n--; n < 0 {
				return t
			}
		case best == nil, best.in[v] == nil && t.in[v] != nil:
			best = t
		}
	}
	// A turn that existed when its name was written may have been edited since.
	if best != nil && (hash == "" || !strings.HasPrefix(name, missingMark)) {
		return best
	}
	t := &mergeTurn{key: k}
	if hash != "" {
		t.hash = [versions + 1]string{hash, hash, hash, hash}
	}
	tt.turns = append(tt.turns, t)
	tt.byKey[k] = append(tt.byKey[k], t)
	return t
}

func parseTurnName(name string) (k turnKey, hash string, ok bool) {
	name, hash, _ = strings.Cut(strings.TrimPrefix(name, missingMark), ".")
	start, request, asks := strings.Cut(name, "/")
	k.request = noTime
	var err error
	if k.start, err = strconv.ParseInt(start, 10, 64); err != nil {
		return k, "", false
	}
	if asks {
		if k.request, err = strconv.ParseInt(request, 10, 64); err != nil {
			return k, "", false
		}
	}
	return k, hash, true
}
