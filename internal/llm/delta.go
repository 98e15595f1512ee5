package llm

import (
	"github.com/git-jp/git-jp/events"
)

// DeltaKind is the kind of a [Delta].
type DeltaKind int

// The kinds of Delta, in the order of a part and a stream.
const (
	// DeltaStart opens a part. It sets Index, Part, and for a call ID and Name.
	DeltaStart DeltaKind = iota
	// DeltaFragment continues a part. It sets Index, Part, and Text: more text, more reasoning, or
	// more of the JSON of arguments or data.
	DeltaFragment
	// DeltaEnd closes a part. It sets Index, Part, Event and Metadata. Event is nil if nothing of
	// the part is stored (a message of white space).
	DeltaEnd
	// DeltaUsage reports the usage of one exchange, in Usage; before an error, that which was known
	// until then. An answer in several exchanges has several of these; they add up, see
	// [Usage.Add].
	DeltaUsage
	// DeltaStop is the last delta of a stream. It sets Stop.
	DeltaStop
)

// PartKind is the kind of a part of an answer.
type PartKind int

// The kinds of part.
const (
	PartText PartKind = iota
	PartReasoning
	PartData
	PartCall
)

// A Delta is one step of an answer. Kind determines which fields are set. Parts of different Index
// may interleave; an index is never used twice in one stream.
type Delta struct {
	Kind     DeltaKind
	Index    int
	Part     PartKind
	ID, Name string
	Text     string
	// Event is a *events.ChatResponse or *events.ToolCallRequest. Metadata must be stored with it
	// for later requests.
	Event    events.Event
	Metadata events.Metadata
	Usage    Usage
	Stop     Stop
}

// StopReason is why an answer ended.
type StopReason string

// The reasons to stop.
const (
	StopEnd       StopReason = "end"        // the answer is complete
	StopTools     StopReason = "tool_use"   // the model waits for results
	StopMaxTokens StopReason = "max_tokens" // the answer was cut off
	StopSequence  StopReason = "stop_sequence"
	StopRefusal   StopReason = "refusal"  // the model refuses; the answer must not be kept
	StopOverflow  StopReason = "overflow" // the window was full before the end
	StopOther     StopReason = "other"
)

// A Stop is the end of an answer.
type Stop struct {
	Reason StopReason
	Native string // the provider's name of the reason
	// Category and Explanation explain a refusal, if the provider does.
	Category, Explanation string
	// Kept is the part that stays of an answer that was refused after it had been continued.
	Kept Kept
}

// Kept is the output of exchanges that ended well before the refused one: the parts before Part,
// and that many bytes of Part. Zero bytes mean that nothing is kept.
type Kept struct {
	Part  int
	Bytes int
}
