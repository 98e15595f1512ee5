package llm

import (
	"github.com/git-jp/git-jp/events"
)

// DeltaKind says what a [Delta] is.
type DeltaKind int

// The kinds of Delta, in the order in which a part and a stream go through them.
const (
	// DeltaStart opens a part: Index, Part, and of a call its ID and Name.
	DeltaStart DeltaKind = iota
	// DeltaFragment continues it: Index, Part, and in Text more text, more
	// reasoning, or more of the JSON of arguments or data.
	DeltaFragment
	// DeltaEnd closes it: Index, Part, Event and Metadata. Event is nil when the part
	// turned out to hold nothing that is stored (a message of white space).
	DeltaEnd
	// DeltaUsage tells what one exchange has cost: Usage. An answer that took several
	// exchanges has several; they add up, see [Usage.Add].
	DeltaUsage
	// DeltaStop is the last of a stream: Stop.
	DeltaStop
)

// PartKind says what a part of an answer holds.
type PartKind int

// The kinds of part.
const (
	PartText PartKind = iota
	PartReasoning
	PartData
	PartCall
)

// A Delta is one step of an answer. Which fields are set follows from Kind. Parts of
// different Index may interleave; an index is never used twice in one stream.
type Delta struct {
	Kind     DeltaKind
	Index    int
	Part     PartKind
	ID, Name string
	Text     string
	// Event is a *events.ChatResponse or *events.ToolCallRequest, and Metadata what
	// must be stored with it so that it can be replayed.
	Event    events.Event
	Metadata events.Metadata
	Usage    Usage
	Stop     Stop
}

// StopReason says why an answer ended.
type StopReason string

// The reasons to stop.
const (
	StopEnd       StopReason = "end"        // it said all it had to say
	StopTools     StopReason = "tool_use"   // it waits for results
	StopMaxTokens StopReason = "max_tokens" // it was cut off
	StopSequence  StopReason = "stop_sequence"
	StopRefusal   StopReason = "refusal"  // it will not answer; what it said must not be kept
	StopOverflow  StopReason = "overflow" // the window was full before it was done
	StopOther     StopReason = "other"
)

// A Stop is the end of an answer.
type Stop struct {
	Reason StopReason
	Native string // the provider's word for it
	// Category and Explanation tell more about a refusal, when the provider does.
	Category, Explanation string
	// Kept is what stays of an answer that was refused after it had been continued.
	Kept Kept
}

// Kept is what was said in exchanges that ended well, before the one that was refused: the
// parts before Part, and of that one so many bytes. Without bytes it is nothing.
type Kept struct {
	Part  int
	Bytes int
}
