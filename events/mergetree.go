package events

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// A mergeTurn is a turn that any of the versions has, or that one of them remembers
// as the parent of another.
type mergeTurn struct {
	key turnKey
	// hash tells turns of one key apart; it is that of their first request, in hex,
	// and empty until somebody asks.
	hash   string
	in     [versions]*sideTurn
	par    [versions]*mergeTurn // nil when the version does not know
	parent *mergeTurn           // the merged one
	turnContent
}

// root is the parent of what follows nothing. It is known by its address.
func newRoot() *mergeTurn { return &mergeTurn{key: turnKey{noTime, noTime}} }

// matchTurns finds the turns that are one in the versions. A turn of base is the one
// with its key, whatever it says now. Two that both sides added are one if they begin
// with the same request.
func (m *merger) matchTurns() {
	var sides [versions]map[turnKey][]*sideTurn
	var keys []turnKey
	for v, s := range m.streams {
		sides[v] = map[turnKey][]*sideTurn{}
		for _, t := range s.turns {
			if m.byKey[t.key] == nil {
				m.byKey[t.key] = []*mergeTurn{}
				keys = append(keys, t.key)
			}
			sides[v][t.key] = append(sides[v][t.key], t)
		}
	}
	for _, k := range keys {
		m.matchKey(k, sides[inBase][k], sides[inOurs][k], sides[inTheirs][k])
	}
}

func (m *merger) matchKey(k turnKey, base, ours, theirs []*sideTurn) {
	for _, t := range base {
		m.addTurn(k, inBase, t)
	}
	for v, turns := range [versions][]*sideTurn{inOurs: ours, inTheirs: theirs} {
		left := turns
		if len(base) > 0 {
			left = pairUp(base, turns, m.sameRequest, true, func(b, t *sideTurn) {
				b.merged.in[v], t.merged = t, b.merged
			})
		}
		if v == inTheirs {
			mine := slices.DeleteFunc(slices.Clone(ours), func(t *sideTurn) bool {
				return t.merged.in[inBase] != nil
			})
			left = pairUp(mine, left, m.sameRequest, false, func(o, t *sideTurn) {
				o.merged.in[v], t.merged = t, o.merged
			})
		}
		for _, t := range left {
			m.addTurn(k, v, t)
		}
	}
}

func (m *merger) addTurn(k turnKey, version int, t *sideTurn) {
	t.merged = &mergeTurn{key: k}
	t.merged.in[version] = t
	m.turns = append(m.turns, t.merged)
	m.byKey[k] = append(m.byKey[k], t.merged)
}

func (m *merger) sameRequest(a, b *sideTurn) bool {
	p, q := firstRequest(a.events), firstRequest(b.events)
	return p == nil && q == nil || p != nil && q != nil && m.same(p, q)
}

// pairUp pairs those of two lists that are the same, and with rest also what is then
// left, each time in order. It returns what of bs stays alone. Lists are almost always
// of one.
func pairUp[T any](as, bs []T, same func(a, b T) bool, rest bool, pair func(a, b T)) []T {
	free := slices.Clone(as)
	var left []T
	for _, b := range bs {
		i := slices.IndexFunc(free, func(a T) bool { return same(a, b) })
		if i < 0 {
			left = append(left, b)
			continue
		}
		pair(free[i], b)
		free = slices.Delete(free, i, i+1)
	}
	if !rest {
		return left
	}
	n := min(len(free), len(left))
	for i := range n {
		pair(free[i], left[i])
	}
	return left[n:]
}

// readParents finds out what each version says of which turn follows which.
//
// A recorded parent counts, else it is the turn before. Records are believed only as
// long as all of them together give the order in which the turns stand: otherwise
// somebody has moved turns by hand since.
func (m *merger) readParents() {
	m.root = newRoot()
	for v := range m.streams {
		m.readRecords(v)
		if !m.inOrder(v) {
			for _, t := range m.turns {
				t.par[v] = nil
			}
			m.readPredecessors(v)
		}
		if v != inBase {
			m.explainDeletions(v)
		}
	}
}

func (m *merger) readRecords(v int) {
	m.readPredecessors(v)
	for _, s := range m.streams[v].turns {
		child := s.merged
		for _, name := range s.record {
			parent := m.turnNamed(name, v)
			child.par[v] = parent
			if parent == m.root || parent.in[v] != nil {
				break
			}
			child = parent
		}
	}
}

func (m *merger) readPredecessors(v int) {
	last := m.root
	for _, s := range m.streams[v].turns {
		s.merged.par[v] = last
		last = s.merged
	}
}

// inOrder reports whether the parents of a version give its order.
func (m *merger) inOrder(v int) bool {
	s := m.streams[v]
	if !slices.ContainsFunc(s.turns, func(t *sideTurn) bool { return t.record != nil }) {
		return true
	}
	i := 0
	for _, t := range m.walk(func(t *mergeTurn) *mergeTurn { return t.knownParent(v) }) {
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

// knownParent returns the parent that the version says, else that of base.
func (t *mergeTurn) knownParent(v int) *mergeTurn {
	if t.par[v] == nil {
		return t.par[inBase]
	}
	return t.par[v]
}

// explainDeletions gives turns whose parent the side removed that parent back: that
// another turn stands before them now is no move.
func (m *merger) explainDeletions(v int) {
	for _, s := range m.streams[v].turns {
		t := s.merged
		was := t.par[inBase]
		if was == nil || was == m.root || was.in[v] != nil {
			continue
		}
		for p, n := was, 0; p != nil && n <= len(m.turns); p, n = p.par[inBase], n+1 {
			if p == m.root || p.in[v] != nil {
				if p == t.par[v] {
					t.par[v] = was
				}
				break
			}
		}
	}
}

// mergeParents decides which turn follows which, and with that the order. Where the
// sides have a turn behind different ones it follows the later of the two.
func (m *merger) mergeParents() {
	for _, t := range m.turns {
		b, o, th := t.par[inBase], t.par[inOurs], t.par[inTheirs]
		switch {
		case o == nil && th == nil:
			t.parent = b
		case o == nil:
			t.parent = th
		case th == nil:
			t.parent = o
		default:
			t.parent = choose(b, o, th, sameTurn, func(o, th *mergeTurn) *mergeTurn {
				if m.compare(o, th) > 0 {
					return o
				}
				return th
			})
		}
	}
	m.places = m.walk(func(t *mergeTurn) *mergeTurn { return t.parent })
}

func sameTurn(a, b *mergeTurn) bool { return a == b }

// compare orders turns by their keys.
func (m *merger) compare(a, b *mergeTurn) int {
	if a == b {
		return 0
	}
	if c := a.key.compare(b.key); c != 0 {
		return c
	}
	return strings.Compare(m.hashOf(a), m.hashOf(b))
}

// walk returns all turns, each before its children and those in the order of their
// keys. Turns that went keep their place in the tree, so that what hung below them
// does not change its place among the others.
func (m *merger) walk(parent func(*mergeTurn) *mergeTurn) []*mergeTurn {
	children := make(map[*mergeTurn][]*mergeTurn, len(m.turns))
	for _, t := range m.turns {
		p := parent(t)
		if p == nil {
			p = m.root
		}
		children[p] = append(children[p], t)
	}
	for _, t := range m.cycles(parent) {
		p := parent(t)
		children[p] = slices.DeleteFunc(children[p], func(c *mergeTurn) bool { return c == t })
		children[m.root] = append(children[m.root], t)
	}
	order := make([]*mergeTurn, 0, len(m.turns))
	stack := []*mergeTurn{m.root}
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t != m.root {
			order = append(order, t)
		}
		below := children[t]
		slices.SortFunc(below, func(a, b *mergeTurn) int { return m.compare(b, a) })
		stack = append(stack, below...)
	}
	return order
}

// cycles returns of each cycle of turns the one with the smallest key.
func (m *merger) cycles(parent func(*mergeTurn) *mergeTurn) []*mergeTurn {
	var found []*mergeTurn
	run := make(map[*mergeTurn]int, len(m.turns)) // in which run a turn was seen first
	for n, t := range m.turns {
		p := t
		for ; p != nil && p != m.root && run[p] == 0; p = parent(p) {
			run[p] = n + 1
		}
		if p == nil || p == m.root || run[p] != n+1 {
			continue
		}
		smallest := p
		for q := parent(p); q != p; q = parent(q) {
			if m.compare(q, smallest) < 0 {
				smallest = q
			}
		}
		found = append(found, smallest)
	}
	return found
}

// hashOf returns what tells a turn from others of its key.
func (m *merger) hashOf(t *mergeTurn) string {
	if t.hash != "" {
		return t.hash
	}
	for _, s := range t.in {
		if s == nil {
			continue
		}
		if q := firstRequest(s.events); q != nil {
			sum := m.sum(q)
			t.hash = hex.EncodeToString(sum[:8])
			return t.hash
		}
	}
	t.hash = "-"
	return t.hash
}

// name returns how a turn is called in records: by its key, and by the hash only if
// there are others of that key.
func (m *merger) name(t *mergeTurn) string {
	if t == m.root {
		return ""
	}
	name := t.key.String()
	if len(m.byKey[t.key]) > 1 {
		name += "." + m.hashOf(t)
	}
	return name
}

// String returns the key as it stands in records.
func (k turnKey) String() string {
	b := strconv.AppendInt(nil, k.start, 10)
	if k.request == noTime {
		return string(b)
	}
	return string(strconv.AppendInt(append(b, '/'), k.request, 10))
}

// turnNamed returns the turn that a version calls so. One that no version has is made,
// as something that once was.
func (m *merger) turnNamed(name string, v int) *mergeTurn {
	if name == "" {
		return m.root
	}
	k, hash, ok := parseTurnName(name)
	if !ok {
		return m.root
	}
	var best *mergeTurn
	for _, t := range m.byKey[k] {
		switch {
		case hash != "" && m.hashOf(t) == hash:
			return t
		case best == nil, best.in[v] == nil && t.in[v] != nil:
			best = t
		}
	}
	if best != nil && (hash == "" || best.hash != hash && best.in != [versions]*sideTurn{}) {
		return best
	}
	t := &mergeTurn{key: k, hash: hash}
	m.turns = append(m.turns, t)
	m.byKey[k] = append(m.byKey[k], t)
	return t
}

func parseTurnName(name string) (k turnKey, hash string, ok bool) {
	name, hash, _ = strings.Cut(name, ".")
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
