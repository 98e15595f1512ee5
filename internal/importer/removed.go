package importer

import (
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// withoutRemoved leaves out of what imports brought, and of the present state of a source, the
// events that were removed here since. A merge would ask about them in a turn that the agent
// continued, each time: a turn has another identity without its prompt. What the agent said there
// since arrives, with results only if their calls are here.
func withoutRemoved(was, now, here *events.Stream) (base, theirs *events.Stream) {
	gone, has := map[string]bool{}, keysOf(here)
	for i, key := range sourceKeys(was) {
		if key != "" && was.At(i).Kind().IsEvent() && !has[key] {
			gone[key] = true
		}
	}
	if len(gone) == 0 {
		return was, now
	}
	l := lacking{gone, has}
	return l.in(was), l.in(now)
}

// A lacking is what was removed here.
type lacking struct{ gone, has map[string]bool } // the keys of that, and of what is here

// in returns a stream without what was removed, results of such calls that are not here, and starts
// of turns of which nothing is left.
func (l lacking) in(s *events.Stream) *events.Stream {
	keys, turns, drop := sourceKeys(s), s.TurnOf(), map[int]bool{}
	for i, key := range keys {
		drop[i] = l.gone[key]
	}
	for _, c := range s.Calls() {
		if drop[c.Request] && !c.Open() && !l.has[keys[c.Response]] {
			drop[c.Response] = true
		}
	}
	left, lost := map[int]bool{}, map[int]bool{}
	for i, e := range s.All() {
		if e.Kind().IsEvent() && e.Kind() != events.KindTurnStart {
			lost[turns[i]] = lost[turns[i]] || drop[i]
			left[turns[i]] = left[turns[i]] || !drop[i]
		}
	}
	var kept []*events.Element
	for i, e := range s.All() {
		empty := e.Kind() == events.KindTurnStart && lost[turns[i]] && !left[turns[i]]
		if !drop[i] && !empty {
			kept = append(kept, e)
		}
	}
	return events.New(kept...)
}

// removedOf returns the elements of a source that changes in place which an import brought here and
// that were removed: summaries, elements that were removed with their turns, and events that are
// missing from a turn. Nothing tells an event at the end of an open turn that was removed from one
// that the source added to it.
func removedOf(here *workspace.Conversation, now *events.Stream) (all []*events.Element) {
	has := keysOf(here.Stream)
	removed := missingTurns(here, here.Stream.SourceTurns())
	for _, e := range here.Stream.All() {
		delete(removed, summaryOf(e))
	}
	is := endsOf(here.Stream, now)
	turns, keys := now.SourceTurns(), sourceKeys(now)
	first := map[string]bool{}
	for i, e := range now.All() {
		isFirst := e.Kind().IsEvent() && keys[i] != "" && !first[turns[i]]
		first[turns[i]] = first[turns[i]] || isFirst
		switch {
		case removed[summaryOf(e)]:
		case has[keys[i]]:
			continue
		case is.has[is.turns[i]]:
			if !is.removed(i, e, keys[i]) {
				continue
			}
		case removed[turns[i]] && (isFirst || !is.open[is.turns[i]]):
		default:
			continue
		}
		all = append(all, e)
	}
	return all
}

// ends are how far the turns of a source are here.
type ends struct {
	turns []int        // of the elements of the source
	last  map[int]int  // by turn, the last event that is here and no result
	end   int          // the last turn of which an event is here
	has   map[int]bool // the turns of which an event is here
	open  map[int]bool // the turns whose starts are here, and say that they were open
	whole bool         // the source has all that is here
}

func endsOf(here, now *events.Stream) ends {
	is := ends{
		turns: now.TurnOf(), last: map[int]int{}, has: map[int]bool{}, open: map[int]bool{},
	}
	open := map[int64]bool{}
	for _, e := range here.All() {
		if _, ok := e.Metadata().Value(events.MetadataOpen); ok {
			open[e.Time().UnixMicro()] = true
		}
	}
	has, more := keysOf(here), keysOf(here)
	for i, key := range sourceKeys(now) {
		e := now.At(i)
		if e.Kind() == events.KindTurnStart {
			is.open[is.turns[i]] = open[e.Time().UnixMicro()]
		} else if e.Kind().IsEvent() && has[key] {
			is.end, is.has[is.turns[i]] = is.turns[i], true
			if e.Kind() != events.KindToolCallResponse {
				is.last[is.end] = i
			}
		}
		delete(more, key)
	}
	is.whole = !slices.ContainsFunc(sourceKeys(here), func(key string) bool { return more[key] })
	return is
}

// removed reports whether an event that is missing from a turn was removed from it. A source adds
// nothing before what is here of the turn but results, or before those, unless it is another copy.
func (is ends) removed(i int, e *events.Element, key string) bool {
	turn := is.turns[i]
	if key == "" || !e.Kind().IsEvent() || strings.HasSuffix(key, events.SplitSuffix) {
		return false
	}
	return is.whole && turn < is.end ||
		i < is.last[turn] && e.Kind() != events.KindToolCallResponse
}
