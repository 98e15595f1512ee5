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
	turns   []int  // index in elements at which each begins
	numbers []int  // of each of them, in past
	past    []past // all completed turns, of every branch
	// exported and shared count the turns and elements that existed at the end of the export with
	// which the session began.
	exported, shared int
}

// A past turn is a completed turn.
type past struct {
	before int   // the number of the preceding turn, -1 for the first
	model  model // in force when the turn began
	// The elements of a turn that the person rewound, and the model in force after them.
	elements []*events.Element
	after    model
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
func reach(b *Builder, line int) {
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
func (b *Builder) pass(m model) {
	b.past = append(b.past, past{before: b.end(), model: m})
	b.numbers = append(b.numbers, len(b.past)-1)
	b.turns = append(b.turns, len(b.elements))
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
	at := b.turns[turns]
	var names []string
	for _, e := range b.elements[at:] {
		b.size -= int64(len(e.Raw()))
		names = append(names, e.RewoundNames()...)
	}
	b.rewound[fork.Name.String()] = names
	for len(b.turns) > turns {
		b.leave()
	}
	maps.DeleteFunc(b.calls, func(_ string, i int) bool { return i >= at })
}

// leave removes the last turn from the path.
func (b *Builder) leave() {
	end := len(b.turns) - 1
	left := &b.past[b.numbers[end]]
	left.elements, left.after = slices.Clone(b.elements[b.turns[end]:]), b.model
	if b.model = left.model; b.model.name == "" {
		b.model = b.base
	}
	b.elements = slices.Clip(b.elements[:b.turns[end]])
	b.turns, b.numbers = b.turns[:end], b.numbers[:end]
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
func splitAt(b *Builder, is func(key string) bool) int {
	at := slices.IndexFunc(b.elements, func(e *events.Element) bool {
		key, ok := e.Metadata().Text(MetadataSource)
		return ok && is(key)
	})
	if at < 0 || b.err != nil {
		return len(b.turns)
	}
	isA := func(i int, kind events.Kind) bool { return i >= 0 && b.elements[i].Kind() == kind }
	for isA(at, events.KindToolCallResponse) {
		at-- // a result stays with its call
	}
	for isA(at, events.KindToolCallRequest) && isA(at-1, events.KindToolCallRequest) {
		at-- // and that with the others of the answer
	}
	turn, begins := slices.BinarySearch(b.turns, at)
	if !begins {
		turn--
	}
	isAnswer := func(e *events.Element) bool {
		return e.Kind().IsEvent() && e.Kind() != events.KindTurnStart &&
			e.Kind() != events.KindChatRequest
	}
	if at < b.shared || !slices.ContainsFunc(b.elements[b.turns[turn]:at], isAnswer) {
		return turn // it stays whole, or nothing was answered in it
	}
	divide(b, turn, at)
	return turn + 1
}

// divide divides a turn of the path before one of its elements. Its records stay in the first part,
// where an earlier import may have them. Its number is that of the second part: whatever followed
// the turn still does.
func divide(b *Builder, turn, at int) {
	end := len(b.elements)
	if turn+1 < len(b.turns) {
		end = b.turns[turn+1]
	}
	key, _ := b.elements[at].Metadata().Text(MetadataSource)
	when := b.elements[at].Time()
	begin := []*events.Element{
		events.NewElement(when.Add(-time.Microsecond), &events.TurnStart{}, events.Metadata{}),
		events.NewElement(when, &events.ChatRequest{Content: events.SplitRequest},
			keyed(split(), key+events.SplitSuffix)),
	}
	var records, rest []*events.Element
	for _, e := range b.elements[at:end] {
		if e.Kind() == KindRecord {
			records = append(records, e)
		} else {
			rest = append(rest, e)
		}
	}
	parts := slices.Concat(records, begin, rest, b.elements[end:])
	b.elements = b.elements[:at]
	for _, e := range parts {
		b.elements = append(b.elements, e)
		if r, ok := e.Event().(*events.ToolCallResponse); ok {
			b.calls[r.ID] = len(b.elements) - 1
		}
	}
	for _, e := range begin {
		b.size += int64(len(e.Raw()))
		*b.all += int64(len(e.Raw()))
	}
	b.bound(b.size)
	for i := turn + 1; i < len(b.turns); i++ {
		b.turns[i] += len(begin)
	}
	whole := &b.past[b.numbers[turn]]
	first := past{before: whole.before, model: whole.model}
	whole.before = len(b.past)
	b.turns = slices.Insert(b.turns, turn+1, at+len(records))
	b.numbers = slices.Insert(b.numbers, turn, len(b.past))
	b.past = append(b.past, first)
}
