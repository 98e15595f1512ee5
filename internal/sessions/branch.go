package sessions

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-jp/git-jp/events"
)

// A path has the completed turns of the conversation, and those that the person rewound.
type path struct {
	elements []*events.Element
	size     int64          // of elements
	calls    map[string]int // index in elements of the result of each call
	turns    []int          // index in elements at which each begins
	numbers  []int          // of each of them, in past
	past     []past         // all completed turns, of every branch
	model    model          // in force now
	base     model          // the first
	// exported and shared count the turns and elements that existed at the end of the export with
	// which the session began.
	exported, shared int
}

type model struct{ provider, name, effort string }

// A past turn is a completed turn.
type past struct {
	before int   // the number of the preceding turn, -1 for the first
	model  model // in force when the turn began
	// The elements of a turn that the person rewound, and the model in force after them.
	elements []*events.Element
	after    model
}

// append appends an element.
func (p *path) append(e *events.Element) {
	p.elements = append(p.elements, e)
	if r, ok := e.Event().(*events.ToolCallResponse); ok {
		p.calls[r.ID] = len(p.elements) - 1
	}
	p.size += int64(len(e.Raw()))
}

// cut removes the elements from an index on, and returns them.
func (p *path) cut(at int) []*events.Element {
	gone := slices.Clone(p.elements[at:])
	for _, e := range gone {
		p.size -= int64(len(e.Raw()))
	}
	p.elements = p.elements[:at]
	return gone
}

// end returns the number of the last turn of the path, -1 if there is none.
func (p *path) end() int {
	if len(p.numbers) == 0 {
		return -1
	}
	return p.numbers[len(p.numbers)-1]
}

// to returns the numbers of a turn and of all turns before it, on any branch.
func (p *path) to(number int) (all []int) {
	for ; number >= 0; number = p.past[number].before {
		all = append(all, number)
	}
	slices.Reverse(all)
	return all
}

// hasExport reports whether the path has all turns of the export with which the session began.
func (p *path) hasExport() bool {
	n := p.exported
	return n > 0 && len(p.numbers) >= n && p.numbers[n-1] == n-1
}

// reach is called before the builder gets a line. If the export ends before that line, the current
// turn ends too, and whatever model follows counts as a change.
func (b *Builder) reach(line int) {
	x := b.session.Export
	if x == nil || line <= x.Lines || b.exported > 0 {
		return
	}
	b.endTurn(true)
	b.exported, b.shared = len(b.turns), len(b.elements)
	b.model = model{name: unknownSpeaker}
}

// unknownSpeaker matches no model.
const unknownSpeaker = "?"

// pass records that the elements of a completed turn follow.
func (p *path) pass(m model) {
	p.past = append(p.past, past{before: p.end(), model: m})
	p.numbers = append(p.numbers, len(p.past)-1)
	p.turns = append(p.turns, len(p.elements))
}

// Turn returns the number of turns before the current or last one.
func (b *Builder) Turn() int {
	if b.current.begun() {
		return len(b.turns)
	}
	return len(b.turns) - 1
}

// Point returns the number by which [Builder.Follow] identifies the current or last turn.
func (b *Builder) Point() int {
	if b.current.begun() {
		return len(b.past)
	}
	return b.end()
}

// Follow begins after the turn with a number that [Builder.Point] returned. If that is not the last
// turn, the person went back, maybe to a branch that was left before.
func (b *Builder) Follow(turn int, point string) {
	if turn == b.Point() {
		return
	}
	b.endTurn(true)
	if b.err != nil {
		return
	}
	branch, shared := b.to(turn), 0
	for shared < min(len(branch), len(b.numbers)) && branch[shared] == b.numbers[shared] {
		shared++
	}
	b.Rewind(shared, point)
	for _, number := range branch[shared:] {
		b.resume(number)
	}
}

// Rewind records that the person went back: the conversation continues after the given number of
// turns. The later turns become a fork named after the point.
func (b *Builder) Rewind(turns int, point string) {
	b.endTurn(true)
	if b.err != nil || turns < 0 || turns >= len(b.turns) {
		return
	}
	fork := b.conversation(b.forkAt(point))
	fork.Archived, fork.Parent = true, b.session.Name
	b.forks = append(b.forks, fork)
	*b.all += b.size
	b.bound(b.size)
	var names []string
	for _, e := range b.elements[b.turns[turns]:] {
		names = append(names, e.RewoundNames()...)
	}
	b.rewound[fork.Name.String()] = names
	b.leave(turns)
}

// leave removes all turns but the first ones from the path.
func (p *path) leave(turns int) {
	for end := len(p.turns) - 1; end >= turns; end-- {
		left := &p.past[p.numbers[end]]
		left.elements, left.after = p.cut(p.turns[end]), p.model
		if p.model = left.model; p.model.name == "" {
			p.model = p.base
		}
		p.turns, p.numbers = p.turns[:end], p.numbers[:end]
	}
	maps.DeleteFunc(p.calls, func(_ string, i int) bool { return i >= len(p.elements) })
}

// resume appends a rewound turn to the path again.
func (b *Builder) resume(number int) {
	left := b.past[number]
	b.numbers = append(b.numbers, number)
	b.turns = append(b.turns, len(b.elements))
	for _, e := range left.elements {
		b.push(e)
	}
	b.model = left.after
}

// forkAt names a fork of rewound turns. A person may go back to the same point more than once, so
// later forks are numbered.
func (b *Builder) forkAt(point string) Name {
	id := b.session.Name.ID + "@" + point
	for n := 2; b.Seen("fork " + id); n++ {
		id = fmt.Sprintf("%s@%s.%d", b.session.Name.ID, point, n)
	}
	return Name{b.session.Name.Agent, id}
}

// splitAt returns the number of turns before the first event whose key a function accepts. If that
// is in the middle of a turn, the turn becomes two, unless it was exported: then it stays whole.
// Without such an event splitAt returns the number of all turns.
func (p *path) splitAt(is func(key string) bool) int {
	at := slices.IndexFunc(p.elements, func(e *events.Element) bool {
		key, ok := e.Metadata().Text(MetadataSource)
		return ok && is(key)
	})
	if at < 0 {
		return len(p.turns)
	}
	isA := func(i int, kind events.Kind) bool { return i >= 0 && p.elements[i].Kind() == kind }
	for isA(at, events.KindToolCallResponse) {
		at-- // a result stays with its call
	}
	for isA(at, events.KindToolCallRequest) && isA(at-1, events.KindToolCallRequest) {
		at-- // and that with the others of the answer
	}
	turn, begins := slices.BinarySearch(p.turns, at)
	if !begins {
		turn--
	}
	isAnswer := func(e *events.Element) bool {
		return e.Kind().IsEvent() && e.Kind() != events.KindTurnStart &&
			e.Kind() != events.KindChatRequest
	}
	if at < p.shared || !slices.ContainsFunc(p.elements[p.turns[turn]:at], isAnswer) {
		return turn // it stays whole, or nothing was answered in it
	}
	p.divide(turn, at)
	return turn + 1
}

// divide divides a turn of the path before one of its elements. Its records stay in the first part,
// where an earlier import may have them. Its number is that of the second part: whatever followed
// the turn still does.
func (p *path) divide(turn, at int) {
	end := len(p.elements)
	if turn+1 < len(p.turns) {
		end = p.turns[turn+1]
	}
	key, _ := p.elements[at].Metadata().Text(MetadataSource)
	when := p.elements[at].Time()
	begin := []*events.Element{
		events.NewElement(when.Add(-time.Microsecond), &events.TurnStart{}, events.Metadata{}),
		events.NewElement(when, &events.ChatRequest{Content: events.SplitRequest},
			keyed(split(), key+events.SplitSuffix)),
	}
	var records, rest []*events.Element
	gone := p.cut(at)
	for _, e := range gone[:end-at] {
		if e.Kind() == KindRecord {
			records = append(records, e)
		} else {
			rest = append(rest, e)
		}
	}
	for _, e := range slices.Concat(records, begin, rest, gone[end-at:]) {
		p.append(e)
	}
	for i := turn + 1; i < len(p.turns); i++ {
		p.turns[i] += len(begin)
	}
	whole := &p.past[p.numbers[turn]]
	first := past{before: whole.before, model: whole.model}
	whole.before = len(p.past)
	p.turns = slices.Insert(p.turns, turn+1, at+len(records))
	p.numbers = slices.Insert(p.numbers, turn, len(p.past))
	p.past = append(p.past, first)
}
