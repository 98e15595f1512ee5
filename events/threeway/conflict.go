package threeway

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// A ConflictKind is the kind of a conflict that no rule decides.
type ConflictKind string

// The kinds of conflicts.
const (
	// ConflictEdited: both changed the same event differently, or one removed an event that the
	// other changed.
	ConflictEdited ConflictKind = "edited"
	// ConflictContinued: both continued after the same event, differently.
	ConflictContinued ConflictKind = "continued"
	// ConflictRemoved: one removed the turn and the other changed it.
	ConflictRemoved ConflictKind = "removed"
)

// A Conflict is a turn about which a person has to decide. The merged stream has Ours.
type Conflict struct {
	Kind ConflictKind
	// Turn names the turn, so that [Resolve] and [TurnNamed] can find it. After names the turn
	// before it, or "" at the beginning.
	Turn, After string
	// Base is the turn as it was, and empty if both sides began it. Ours and Theirs differ only in
	// the conflict: everything else is merged in both. The side that removed the turn is empty.
	Base, Ours, Theirs []*events.Element
}

// A Choice is a decision about a conflict.
type Choice int

// The choices. To move the other side to a conversation of its own, fork its stream and choose ours
// here.
const (
	ChooseOurs   Choice = iota // keep ours
	ChooseTheirs               // replace ours by theirs
	ChooseBoth                 // keep theirs after ours, as a turn of its own
)

// Resolve returns the stream with a conflict decided; s itself is not changed. The stream may have
// changed since the merge, as long as the turn, or the turn that it is to follow, still exists.
// Ranges of compactions and the order of the turns are adjusted.
//
// As a turn of its own theirs begins a microsecond after ours, or later if another turn already has
// that key.
func Resolve(s *events.Stream, c Conflict, choice Choice) (*events.Stream, error) {
	m, err := readAlone(s)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", c.Turn, err)
	}
	t := m.present(c.Turn)
	switch {
	case t == nil && len(c.Ours) > 0:
		return nil, fmt.Errorf("resolve %s: the turn no longer exists", c.Turn)
	case choice == ChooseOurs, choice == ChooseBoth && len(c.Theirs) == 0:
		return s.Clone(), nil
	case t == nil:
		if t = m.root; c.After != "" {
			if t = m.present(c.After); t == nil {
				return nil, fmt.Errorf("resolve %s: %s, which it followed, no longer exists",
					c.Turn, c.After)
			}
		}
		m.insert(c.Theirs, t)
	case choice == ChooseTheirs && len(c.Theirs) == 0:
		t.events = nil
	case choice == ChooseTheirs:
		t.events = c.Theirs
	default:
		m.insert(m.apart(c.Theirs), t)
	}
	m.mergeParents()
	out := m.write()
	return out, out.ValidateWith(events.DecodeOptions{MaxBlobBytes: -1})
}

// Waits reports whether a stream still has a conflict as the merge left it: it has everything that
// only ours has and nothing that only theirs has. Other elements, and whether content is inline or
// in a blob, do not matter.
func (c Conflict) Waits(s *events.Stream) bool {
	has, ours, theirs := sumsOf(s.All()), sumsOf(slices.All(c.Ours)), sumsOf(slices.All(c.Theirs))
	for sum := range ours {
		if !theirs[sum] && !has[sum] {
			return false
		}
	}
	for sum := range theirs {
		if !ours[sum] && has[sum] {
			return false
		}
	}
	return true
}

func sumsOf(all iter.Seq2[int, *events.Element]) map[blobs.Hash]bool {
	sums := make(map[blobs.Hash]bool)
	for _, e := range all {
		sums[e.Sum()] = true
	}
	return sums
}

// TurnNamed returns the index of the turn that a conflict names, as in [events.Stream.Turns], or
// false if it no longer exists.
func TurnNamed(s *events.Stream, name string) (int, bool) {
	m, err := readAlone(s)
	if err != nil {
		return 0, false
	}
	if t := m.present(name); t != nil {
		return t.in[inBase].index, true
	}
	return 0, false
}

// readAlone reads a stream that is to be written again with a change.
func readAlone(s *events.Stream) (*merger, error) {
	m := newMerger([versions]Side{{Stream: s}, {Stream: s}, {Stream: s}}, false)
	for v := range m.sides {
		if err := m.read(v); err != nil {
			return nil, err
		}
	}
	m.matchTurns()
	m.readParents()
	m.mergeTurns()
	return m, nil
}

// present returns the turn with the given name, or nil if it does not exist.
func (m *merger) present(name string) *mergeTurn {
	k, hash, ok := parseTurnName(name)
	if !ok {
		return nil
	}
	var found *mergeTurn
	for _, t := range m.byKey[k] {
		if t.in[inBase] == nil {
			continue
		}
		if found == nil || hash != "" && m.name(t) == name {
			found = t
		}
	}
	return found
}

// insert adds a turn after another, or restores it where other turns record it as a parent.
func (m *merger) insert(es []*events.Element, behind *mergeTurn) {
	k := keyOf(es)
	var t *mergeTurn
	for _, known := range m.byKey[k] {
		if known.in == [versions]*sideTurn{} {
			t = known
		}
	}
	if t == nil {
		t = &mergeTurn{key: k}
		m.turns = append(m.turns, t)
		m.byKey[k] = append(m.byKey[k], t)
	}
	t.events = es
	t.in[inTheirs] = &sideTurn{key: k, events: es, merged: t, anyConfig: true}
	if t.par[inTheirs] == nil {
		t.par[inTheirs] = behind
	}
}

// apart returns a turn with its beginning moved to a time at which no other turn begins.
func (m *merger) apart(es []*events.Element) []*events.Element {
	es = slices.Clone(es)
	q := slices.IndexFunc(es, func(e *events.Element) bool {
		return e.Kind() == events.KindChatRequest
	})
	later := func(i int) { es[i] = es[i].WithTime(es[i].Time().Add(time.Microsecond)) }
	for m.byKey[keyOf(es)] != nil {
		if later(0); q > 0 {
			later(q)
		}
	}
	return es
}

// EncodeConflicts returns conflicts as JSON, for a record on disk. The bytes of their elements are
// kept.
func EncodeConflicts(cs []Conflict) []byte {
	list := jsonspan.Array(cs, func(c Conflict) []byte {
		return jsonspan.Object([]jsonspan.Field{
			{Name: "kind", Value: jsonspan.Quoted(string(c.Kind))},
			{Name: "turn", Value: jsonspan.Quoted(c.Turn)},
			{Name: "after", Value: jsonspan.Quoted(c.After)},
			{Name: "base", Value: rawElements(c.Base)},
			{Name: "ours", Value: rawElements(c.Ours)},
			{Name: "theirs", Value: rawElements(c.Theirs)},
		})
	})
	return append(jsonspan.Object([]jsonspan.Field{{Name: "conflicts", Value: list}}), '\n')
}

func rawElements(es []*events.Element) []byte { return jsonspan.Array(es, (*events.Element).Raw) }

// DecodeConflicts reads what [EncodeConflicts] wrote.
func DecodeConflicts(data []byte) ([]Conflict, error) {
	if err := events.CheckObject(data); err != nil {
		return nil, err
	}
	list := jsonspan.MemberOf(data, "conflicts")
	if !jsonspan.IsArray(list) {
		return nil, fmt.Errorf("conflicts: not an array")
	}
	var cs []Conflict
	for i, s := range jsonspan.Elements(list, 0) {
		c, err := decodeConflict(list[s.At:s.End])
		if err != nil {
			return nil, fmt.Errorf("conflict %d: %w", i, err)
		}
		cs = append(cs, c)
	}
	return cs, nil
}

func decodeConflict(v jsontext.Value) (Conflict, error) {
	var c Conflict
	for name, to := range map[string]*string{
		"kind": (*string)(&c.Kind), "turn": &c.Turn, "after": &c.After,
	} {
		m := jsonspan.MemberOf(v, name)
		if !jsonspan.IsString(m) {
			return c, fmt.Errorf("%s: not a string", name)
		}
		*to = jsonspan.Text(m)
	}
	for name, to := range map[string]*[]*events.Element{
		"base": &c.Base, "ours": &c.Ours, "theirs": &c.Theirs,
	} {
		list := jsonspan.MemberOf(v, name)
		s, err := events.DecodeWith(list, events.DecodeOptions{MaxBlobBytes: -1})
		if err != nil {
			return c, fmt.Errorf("%s: %w", name, err)
		}
		for _, e := range s.All() {
			*to = append(*to, e)
		}
	}
	return c, nil
}
