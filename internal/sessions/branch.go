package sessions

import (
	"fmt"
	"maps"
	"slices"

	"github.com/git-jp/git-jp/events"
)

// A path is the turns of the conversation that are over, and those that the person went back from.
type path struct {
	turns   []int  // where in the elements each begins
	numbers []int  // of each of them in past
	past    []past // all that there were
	// exported and shared are how many turns and elements were there when the export ended with
	// which the session began.
	exported, shared int
}

// A past turn is one that is over.
type past struct {
	before int   // the number of the turn that it followed, -1 for none
	model  model // in force when it began
	// What the person went back from: the elements, and the model in force behind them.
	elements []*events.Element
	after    model
}

// end returns the number of the last turn of the path, -1 where there is none.
func (p *path) end() int {
	if len(p.numbers) == 0 {
		return -1
	}
	return p.numbers[len(p.numbers)-1]
}

// to returns the numbers of the turns up to one, of whichever branch.
func (p *path) to(number int) (all []int) {
	for ; number >= 0; number = p.past[number].before {
		all = append(all, number)
	}
	slices.Reverse(all)
	return all
}

// hasExport reports whether all turns of the export with which the session began are on the path.
func (p *path) hasExport() bool {
	n := p.exported
	return n > 0 && len(p.numbers) >= n && p.numbers[n-1] == n-1
}

// reach notes that a line is told next. Where the export ends in front of it, so does the turn, and
// the model that speaks from there on is another one, whichever it is.
func reach(b *Builder, line int) {
	x := b.session.Export
	if x == nil || line <= x.Lines || b.exported > 0 {
		return
	}
	b.endTurn(true)
	b.exported, b.shared = len(b.turns), len(b.elements)
	b.model = model{name: unknownSpeaker}
}

// unknownSpeaker is no name of a model.
const unknownSpeaker = "?"

// pass notes that the elements of a turn follow, which is over.
func (b *Builder) pass(m model) {
	b.past = append(b.past, past{before: b.end(), model: m})
	b.numbers = append(b.numbers, len(b.past)-1)
	b.turns = append(b.turns, len(b.elements))
}

// Turn returns how many turns are before the one that is being told, or that was told last.
func (b *Builder) Turn() int {
	if b.current.begun() {
		return len(b.turns)
	}
	return len(b.turns) - 1
}

// Point returns what the turn that is being told, or that was told last, is known by for
// [Builder.Follow].
func (b *Builder) Point() int {
	if b.current.begun() {
		return len(b.past)
	}
	return b.end()
}

// Follow says that what comes next follows the turn that [Builder.Point] knew by a number. Where
// that is not the last one the person went back, be it to a branch that they had left before.
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

// Rewind says that the person went back: what follows comes behind the given number of turns.
// What was said behind them becomes a conversation of its own, named by the point.
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

// leave takes the last turn off the path.
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

// resume puts a turn that the person went back from at the end of the path.
func (b *Builder) resume(number int) {
	left := b.past[number]
	b.numbers = append(b.numbers, number)
	b.turns = append(b.turns, len(b.elements))
	for _, e := range left.elements {
		b.push(e)
	}
	b.model = left.after
}

// forkAt names what was rewound. To a point that the person came to more than once, they went back
// more than once.
func (b *Builder) forkAt(point string) Name {
	id := b.session.Name.ID + "@" + point
	for n := 2; b.Seen("fork " + id); n++ {
		id = fmt.Sprintf("%s@%s.%d", b.session.Name.ID, point, n)
	}
	return Name{b.session.Name.Agent, id}
}
