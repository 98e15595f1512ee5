package merge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Loss holds the elements of one conversation that a merge lacks although a side had them and no
// side removed them: git was asked to take the other side, or called no driver. The drivers verify
// their own results by the same rule, so these never have a loss.
type Loss struct {
	Conversation events.ID
	// Path is the path of the stream in the merge, or in the side if the merge has none.
	Path string
	// Side is the first parent that has part of it.
	Side gitint.OID
	// Elements holds the missing elements, in the order of the sides, and Turns counts their turns.
	Elements []*events.Element
	Turns    int
	// Gone reports whether the merge lacks the entire conversation, and Removed whether a side
	// removed it and another added the elements.
	Gone, Removed bool

	dir   string              // .jp, from the root
	known map[blobs.Hash]bool // hashes of the elements of the sides and their base
	with  map[events.ID]bool  // the conversations of the sides
}

// Workspaces returns the directories .jp of a merge and of its parents, since the merge may lack
// one.
func Workspaces(
	ctx context.Context, finder *gitint.DirFinder, repo *gitint.Repo,
	merged gitint.Snapshot, parents []gitint.OID,
) ([]string, error) {
	all, err := finder.Find(merged)
	if err != nil {
		return nil, err
	}
	for _, id := range parents {
		tree, err := repo.Tree(ctx, id.String())
		if err != nil {
			return nil, err
		}
		more, err := finder.Find(tree)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Losses examines every conversation that differs between the merge and its parents.
func (m Merge) Losses(ctx context.Context, merged gitint.Snapshot) ([]Loss, error) {
	var all []Loss
	var workspaces []*inspection
	for _, dir := range m.Dirs {
		b, err := m.inspect(ctx, merged, dir)
		if err != nil {
			return nil, err
		}
		workspaces = append(workspaces, b)
	}
	for _, b := range workspaces {
		found, err := b.losses(ctx, workspaces)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	all, err := remaining(all, workspaces, homes.outside)
	if err != nil {
		return nil, err
	}
	return remaining(all, workspaces, homes.outsideForks)
}

// remaining reduces losses to what none of the workspaces of the merge has.
func remaining(
	all []Loss, in []*inspection, lost func(homes, Loss) ([]*events.Element, error),
) (left []Loss, err error) {
	for _, l := range all {
		for _, b := range in {
			if l.Elements, err = lost(b.merged, l); err != nil {
				return nil, err
			}
		}
		if len(l.Elements) > 0 {
			left = append(left, l)
		}
	}
	return left, nil
}

// outside returns the lost elements that the conversation does not have here either: git subtree
// may have put a side below a directory.
func (h homes) outside(l Loss) ([]*events.Element, error) {
	version, err := h.said(l.Conversation)
	if err != nil {
		return l.Elements, unlessSyntax(err)
	}
	return l.missingIn(version), nil
}

// outsideForks returns the lost elements that the conversations which an import created for rewound
// turns do not have either.
func (h homes) outsideForks(l Loss) ([]*events.Element, error) {
	side, err := h.side(l.Conversation)
	for fork := range side.Source.Rewound {
		for _, id := range events.SessionIDs(fork) {
			var version said
			if version, err = h.said(id); err != nil {
				break
			}
			l.Elements = slices.DeleteFunc(l.missingIn(version), func(lost *events.Element) bool {
				return slices.ContainsFunc(version.elements, func(e *events.Element) bool {
					return sameRecords(e, lost) || sameSource(e, lost)
				})
			})
		}
	}
	return l.Elements, unlessSyntax(err)
}

// sameRecords reports whether two elements have records of the same turn, of which one may have
// more: a turn may have gone on before it was rewound.
func sameRecords(a, b *events.Element) bool {
	key, is := a.RecordKey()
	other, too := b.RecordKey()
	return is && too && key == other
}

// sameSource reports whether two events are of one part of a session, of which nobody edited the
// second: the first may say more.
func sameSource(a, b *events.Element) bool {
	key, ok := b.Metadata().Text(events.MetadataSource)
	other, _ := a.Metadata().Text(events.MetadataSource)
	return ok && key == other && a.Kind() == b.Kind() && threeway.IsBrought(b)
}

// losses examines one of the workspaces of a merge.
func (b *inspection) losses(ctx context.Context, workspaces []*inspection) ([]Loss, error) {
	ids := make(map[events.ID]bool)
	for _, h := range b.sides {
		for id := range h.dirs {
			ids[id] = true
		}
	}
	var all []Loss
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if b.untouched(id) {
			continue
		}
		l, err := b.loss(ctx, id, workspaces)
		if _, ok := errors.AsType[*events.SyntaxError](err); ok {
			continue // checking the trees reports what cannot be read
		}
		if err != nil {
			return nil, fmt.Errorf("look for what merging %s lost: %w", id, err)
		}
		if l != nil {
			l.dir, l.with = b.family.dir, ids
			all = append(all, *l)
		}
	}
	return all, nil
}

// untouched reports whether the merge and all its parents have the same version of a conversation,
// by the objects of its directories.
func (b *inspection) untouched(id events.ID) bool {
	for _, h := range b.sides {
		if !h.same(b.merged, id) {
			return false
		}
	}
	return true
}

// same reports whether two snapshots have a conversation in the same directories with the same
// objects.
func (h homes) same(other homes, id events.ID) bool {
	return slices.EqualFunc(h.dirs[id], other.dirs[id], func(a, b string) bool {
		return a == b && !h.trees[a].IsZero() && h.trees[a] == other.trees[b]
	})
}

// loss compares a conversation in a merge with the sides, only by counting: every element of a side
// must be in the merge, unless another side removed it from their common ancestor.
func (b *inspection) loss(
	ctx context.Context, id events.ID, workspaces []*inspection,
) (*Loss, error) {
	result, err := b.merged.saidBut(id, &b.redacted) // like the sides: redacted text is no loss
	if err != nil {
		return nil, err
	}
	sides := make([]said, len(b.sides))
	for i, h := range b.sides {
		if sides[i], err = h.saidBut(id, &b.redacted); unlessSyntax(err) != nil {
			return nil, err
		}
		if err != nil {
			sides[i] = said{unread: true}
		}
	}
	l := &Loss{
		Conversation: id, Path: result.path, Gone: result.path == "",
		known: make(map[blobs.Hash]bool),
	}
	for i, side := range sides {
		missing := side.without(result)
		if len(missing) == 0 {
			continue
		}
		excused, err := b.excused(ctx, id, i, sides, result)
		if err == nil {
			err = b.removedElsewhere(ctx, id, i, workspaces, excused)
		}
		if err != nil {
			return nil, err
		}
		l.add(b.parents[i], side, slices.DeleteFunc(missing, func(e *events.Element) bool {
			return excused[e.Sum()]
		}))
	}
	if len(l.Elements) == 0 {
		return nil, nil
	}
	if err := b.knowAll(ctx, l, sides); err != nil {
		return nil, err
	}
	if l.Elements = l.missingIn(result); len(l.Elements) == 0 {
		return nil, nil
	}
	return l, nil
}

// add records the elements that are missing from one side and not from an earlier one.
func (l *Loss) add(parent gitint.OID, side said, missing []*events.Element) {
	missing = slices.DeleteFunc(missing, func(e *events.Element) bool { return l.known[e.Sum()] })
	if len(missing) == 0 {
		return
	}
	if l.Side.IsZero() {
		l.Side = parent
	}
	if l.Path == "" {
		l.Path = side.path
	}
	l.Turns += side.turnsOf(missing)
	l.Elements = append(l.Elements, missing...)
	for _, e := range missing {
		l.known[e.Sum()] = true
	}
}

// excused returns the elements of one side that the merge may lack: those that the other sides had
// in common with it and removed, and those in whose place it has what a longer record of their
// session says.
func (b *inspection) excused(
	ctx context.Context, id events.ID, one int, sides []said, result said,
) (map[blobs.Hash]bool, error) {
	excused := make(map[blobs.Hash]bool)
	for j, other := range sides {
		if j == one || other.unread {
			continue
		}
		base, err := b.baseOf(ctx, id, one, j)
		if err != nil {
			return nil, err
		}
		base = b.redacted.without(id, base)
		agreed, replaced, err := b.agree(id, base, one, j)
		if err != nil {
			return nil, err
		}
		for _, before := range []*events.Stream{base.Stream, agreed} {
			for _, e := range newSaid("", before).without(other) {
				excused[e.Sum()] = true
			}
		}
		for was, is := range replaced {
			if result.sums[is] {
				excused[was] = true
			}
		}
	}
	return excused, nil
}

// removedElsewhere adds what a side removed in another workspace to the elements that may be
// missing, if it has none here: git subtree merges a project that only one side has below a
// directory.
func (b *inspection) removedElsewhere(
	ctx context.Context, id events.ID, one int, workspaces []*inspection,
	excused map[blobs.Hash]bool,
) error {
	for j, h := range b.sides {
		if j == one || len(h.dirs) > 0 {
			continue
		}
		for _, w := range workspaces {
			base, err := w.baseOf(ctx, id, one, j)
			if err != nil {
				return err
			}
			other, err := w.sides[j].saidBut(id, &b.redacted)
			if err != nil {
				return err
			}
			for _, e := range newSaid("", b.redacted.without(id, base).Stream).without(other) {
				excused[e.Sum()] = true
			}
		}
	}
	return nil
}

// baseOf returns a conversation in the merge base of two sides.
func (b *inspection) baseOf(
	ctx context.Context, id events.ID, one, other int,
) (threeway.Side, error) {
	return b.family.base(ctx, id, b.parents[max(one, other)], b.parents[min(one, other):][:1])
}

// agree returns what two sides agree that their base said, and the elements of the first in whose
// place the second has others of the same session, with these. It knows nothing of rewound
// elements: those are lost unless a conversation has them, see [homes.outsideForks].
func (b *inspection) agree(
	id events.ID, base threeway.Side, one, other int,
) (before *events.Stream, replaced map[blobs.Hash]blobs.Hash, err error) {
	var sides [2]threeway.Side
	for i, of := range []int{one, other} {
		if sides[i], err = b.sides[of].side(id); err != nil {
			return nil, nil, err
		}
		if sides[i].Stream == nil {
			return nil, nil, nil // it has none, or several
		}
		sides[i] = b.redacted.without(id, sides[i])
		sides[i].Source.Rewound = nil
	}
	base, now, _, err := threeway.Agreed(base, sides[0], sides[1])
	if errors.Is(err, threeway.ErrSessions) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	replaced = make(map[blobs.Hash]blobs.Hash)
	for e, with := range threeway.Replaced(sides[0].Stream, now.Stream) {
		replaced[e.Sum()] = with.Sum()
	}
	return base.Stream, replaced, nil
}

// unlessSyntax returns an error unless a stream cannot be read, which checking the trees reports.
func unlessSyntax(err error) error {
	if _, ok := errors.AsType[*events.SyntaxError](err); ok {
		return nil
	}
	return err
}

// knowAll records the elements of the sides and their bases: a person wrote any other element of
// the merge. It also records whether a side lacks the conversation that a base has.
func (b *inspection) knowAll(ctx context.Context, l *Loss, sides []said) error {
	for i, side := range sides {
		side.note(l.known)
		if i == 0 {
			continue
		}
		base, err := b.family.base(ctx, l.Conversation, b.parents[i], b.parents[:i])
		if err != nil {
			return err
		}
		newSaid("", base.Stream).note(l.known)
		gone := slices.ContainsFunc(sides, func(s said) bool { return s.path == "" && !s.unread })
		l.Removed = l.Removed || gone && base.Stream != nil
	}
	return nil
}

// missingIn returns the elements that another version of the conversation does not have either, not
// even in an edited form.
func (l *Loss) missingIn(version said) []*events.Element {
	return slices.DeleteFunc(version.lacking(l.Elements), func(lost *events.Element) bool {
		return slices.ContainsFunc(version.elements, func(e *events.Element) bool {
			return e.Kind() == lost.Kind() && (e.Time().Equal(lost.Time()) && !l.known[e.Sum()] ||
				sameQuestion(e, lost))
		})
	})
}

// shifted bounds how far a turn is moved to keep it beside another with the same time.
const shifted = time.Millisecond

// sameQuestion reports whether two requests differ only in the small shift of a turn that was kept
// beside another.
func sameQuestion(a, b *events.Element) bool {
	return a.Kind() == events.KindChatRequest && b.Time().Sub(a.Time()).Abs() < shifted &&
		events.Equal(a.WithTime(b.Time()), b)
}

// A said is the content of a conversation, from all directories that have its id.
type said struct {
	path     string // of its first stream, "" if it has none
	elements []*events.Element
	turns    []int // of the elements
	sums     map[blobs.Hash]bool
	// unread reports that it cannot be read: it counts as one that neither has nor removed
	// anything, so that it hides no loss of the other sides.
	unread bool
}

// said reads a conversation of a snapshot.
func (h homes) said(id events.ID) (said, error) { return h.saidBut(id, &redactions{}) }

// saidBut is like said, but without redacted text.
func (h homes) saidBut(id events.ID, r *redactions) (said, error) {
	var all said
	for _, dir := range h.dirs[id] {
		at := path.Join(dir, workspace.EventsFile)
		data, err := readIn(h.snap, at)
		if err != nil {
			return all, err
		}
		if data == nil {
			continue
		}
		s, err := events.Decode(data)
		if err != nil {
			return all, fmt.Errorf("%s: %w", h.snap.Name(), err)
		}
		s = r.apply(id, s)
		all = all.and(newSaid(at, s))
	}
	return all, nil
}

// newSaid lists the elements of a stream. It leaves out settings and compactions, which depend on
// the place of turns and are rewritten by every merge, and turn_starts, which have no content.
func newSaid(at string, s *events.Stream) said {
	all := said{path: at, sums: make(map[blobs.Hash]bool)}
	if s == nil {
		return all
	}
	turns := s.TurnOf()
	for i, e := range s.All() {
		switch e.Kind() {
		case events.KindTurnStart, events.KindConfigDelta, events.KindCompaction:
			continue
		}
		all.elements, all.turns = append(all.elements, e), append(all.turns, turns[i])
		all.sums[e.Sum()] = true
	}
	return all
}

// and combines the content of two directories of one conversation.
func (s said) and(other said) said {
	if s.path == "" {
		return other
	}
	const apart = 1 << 20 // keeps the turns of two directories distinct
	for i, e := range other.elements {
		s.elements, s.turns = append(s.elements, e), append(s.turns, other.turns[i]+apart)
		s.sums[e.Sum()] = true
	}
	return s
}

// continues reports whether s has an element of another version, perhaps edited.
func (s said) continues(other said) bool {
	times := make(map[int64]bool)
	for _, e := range other.elements {
		times[e.Time().UnixNano()] = true
	}
	return slices.ContainsFunc(s.elements, func(e *events.Element) bool {
		return times[e.Time().UnixNano()]
	})
}

func (s said) without(other said) []*events.Element { return other.lacking(s.elements) }

// lacking returns the elements that s does not have.
func (s said) lacking(elements []*events.Element) []*events.Element {
	return slices.DeleteFunc(slices.Clone(elements), func(e *events.Element) bool {
		return s.sums[e.Sum()]
	})
}

func (s said) note(known map[blobs.Hash]bool) { maps.Copy(known, s.sums) }

// turnsOf counts the turns that have some of the elements.
func (s said) turnsOf(some []*events.Element) int {
	turns := make(map[int]bool)
	for i, e := range s.elements {
		if slices.Contains(some, e) {
			turns[s.turns[i]] = true
		}
	}
	return len(turns)
}
