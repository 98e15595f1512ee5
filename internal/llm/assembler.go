package llm

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// An Assembler makes deltas of what an adapter reads, so that all adapters keep the same
// parts, events and order. An adapter names parts by keys of its own, such as the index on
// the wire; a key may be used again after its part ended. Formats that do not say where parts
// end use [Assembler.Say].
//
// Each method returns false when nobody listens any more; the adapter then returns.
type Assembler struct {
	tell  func(Delta) bool
	asked *Request
	quiet bool // nobody listens any more
	data  bool // text is data, as the request asked for
	next  int
	extra []jsontext.Value // what belongs to the next part
	open  map[int]*building
	held  []*building
	kept  Kept
	said  Kept // up to the end of the text that ended last
}

// A building is a part that is not complete.
type building struct {
	key      int
	index    int
	part     PartKind
	id, name string
	text     strings.Builder
	metadata events.Metadata
	extra    []jsontext.Value
}

// NewAssembler returns an assembler for one answer to r that hands its deltas to emit.
func NewAssembler(r *Request, emit func(Delta) bool) *Assembler {
	return &Assembler{tell: emit, asked: r, data: r.Schema != nil, open: map[int]*building{}}
}

// Emit returns what an assembler hands its deltas to: whoever ranges over a stream.
func Emit(yield func(Delta, error) bool) func(Delta) bool {
	return func(d Delta) bool { return yield(d, nil) }
}

// Quiet reports whether nobody listens any more. Nothing is told from then on.
func (a *Assembler) Quiet() bool { return a.quiet }

func (a *Assembler) emit(d Delta) bool {
	a.quiet = a.quiet || !a.tell(d)
	return !a.quiet
}

// Start opens a part, and ends the one of this key that is still open: what it said stays what
// was said. Text is data when the request has a schema. Id and name are a call's.
func (a *Assembler) Start(key int, part PartKind, id, name string) bool {
	if !a.End(key) {
		return false
	}
	if part == PartText && a.data {
		part = PartData
	}
	b := &building{key: key, index: a.next, part: part, id: id, name: name}
	a.next++
	a.open[key] = b
	return a.emit(Delta{Kind: DeltaStart, Index: b.index, Part: part, ID: id, Name: name})
}

// Keep notes that an exchange ended well and the open part goes on in another one: if that is
// refused, what was said until now stays.
func (a *Assembler) Keep(key int) {
	if b := a.open[key]; b != nil {
		a.kept = Kept{Part: b.index, Bytes: b.text.Len()}
	}
}

// KeepSaid is [Assembler.Keep] for an exchange that ended with a text of its own.
func (a *Assembler) KeepSaid() { a.kept = a.said }

// Started reports whether the part is open.
func (a *Assembler) Started(key int) bool { return a.open[key] != nil }

// Said returns what an open part said so far.
func (a *Assembler) Said(key int) string {
	if b := a.open[key]; b != nil {
		return b.text.String()
	}
	return ""
}

// Append continues a part; one that is not open is nobody's and is dropped.
func (a *Assembler) Append(key int, text string) bool {
	b := a.open[key]
	if b == nil || text == "" {
		return true
	}
	b.text.WriteString(text)
	return a.emit(Delta{Kind: DeltaFragment, Index: b.index, Part: b.part, Text: text})
}

// Note keeps a proof in the metadata of an open part, in place of what was there. An empty one
// is none, see [Proof].
func (a *Assembler) Note(key int, name, value string) {
	if b := a.open[key]; b != nil && value != "" {
		b.metadata = b.metadata.WithText(name, value)
	}
}

// NoteValue keeps JSON in the metadata of an open part; what jp could not load is not kept.
func (a *Assembler) NoteValue(key int, name string, value jsontext.Value) {
	if b := a.open[key]; b != nil && events.Loadable(value) == nil {
		b.metadata = b.metadata.With(name, value)
	}
}

// Extra keeps what a provider says and no part can hold, as it came: what it searched itself, what
// it ran. It belongs to the part that ends next. Of what was compacted is kept what it covers.
func (a *Assembler) Extra(raw []byte) {
	if v := jsontext.Value(raw); events.Loadable(v) == nil {
		a.extra = append(a.extra, covering(v.Clone(), a.asked))
	}
}

// ExtraOf is [Assembler.Extra] for what belongs to an open part, such as its sources.
func (a *Assembler) ExtraOf(key int, raw []byte) {
	v := jsontext.Value(raw)
	if b := a.open[key]; b != nil && events.Loadable(v) == nil {
		b.extra = append(b.extra, v.Clone())
	}
}

// End closes a part. A call whose arguments are no JSON object that can be stored is held back
// until [Assembler.Stop] tells whether it was cut off. If it was not, it has no arguments, and
// what was sent instead is in its metadata: it is no call that may run.
func (a *Assembler) End(key int) bool {
	b := a.open[key]
	if b == nil {
		return true
	}
	delete(a.open, key)
	if b.part == PartCall && arguments(b.text.String()) == nil {
		a.held = append(a.held, b)
		return true
	}
	return a.end(b, b.event())
}

func (a *Assembler) end(b *building, ev events.Event) bool {
	if b.part == PartText && ev != nil {
		a.said = Kept{Part: b.index, Bytes: b.text.Len()}
	}
	d := Delta{Kind: DeltaEnd, Index: b.index, Part: b.part, ID: b.id, Name: b.name, Event: ev}
	if ev != nil {
		d.Metadata = withExtra(b.metadata, slices.Concat(a.extra, b.extra))
		a.extra = nil
	}
	return a.emit(d)
}

// withExtra keeps what no part can hold as one list.
func withExtra(md events.Metadata, extra []jsontext.Value) events.Metadata {
	if len(extra) == 0 {
		return md
	}
	list, err := json.Marshal(extra)
	if err != nil {
		return md
	}
	return md.With(events.MetadataExtra, list)
}

// sayKey is the key of parts that [Assembler.Say] opens; adapters do not use it.
const sayKey = -1 << 30

// Say appends text to the part of this kind that was said last, or opens one and ends the one
// before, for formats that only send text.
func (a *Assembler) Say(part PartKind, text string) bool {
	if part == PartText && a.data {
		part = PartData
	}
	if b := a.open[sayKey]; b != nil && b.part != part && !a.End(sayKey) {
		return false
	}
	if a.open[sayKey] == nil && !a.Start(sayKey, part, "", "") {
		return false
	}
	return a.Append(sayKey, text)
}

// NoteSaid is [Assembler.Note] for the part that Say writes.
func (a *Assembler) NoteSaid(name, value string) { a.Note(sayKey, name, value) }

// EndSaid closes the part that Say writes, if there is one.
func (a *Assembler) EndSaid() bool { return a.End(sayKey) }

// Usage reports what an exchange has cost.
func (a *Assembler) Usage(u Usage) bool { return a.emit(Delta{Kind: DeltaUsage, Usage: u}) }

// Flush ends the calls that were held back and, unless the answer was cut off, all open parts.
// Cut off, an incomplete call is no call and is dropped; incomplete text is text.
func (a *Assembler) Flush(cut bool) bool {
	for _, b := range a.begun() {
		if cut && b.part == PartCall {
			delete(a.open, b.key)
			a.held = append(a.held, b)
			continue
		}
		if !a.End(b.key) {
			return false
		}
	}
	held := a.held
	a.held = nil
	for _, b := range held {
		var ev events.Event
		if !cut {
			ev = b.call(jsontext.Value("{}"))
			b.metadata = b.metadata.WithText(MetadataArguments, b.text.String())
		}
		if !a.end(b, ev) {
			return false
		}
	}
	return true
}

// begun returns the open parts, oldest first.
func (a *Assembler) begun() []*building {
	return slices.SortedFunc(maps.Values(a.open), func(b, c *building) int {
		return cmp.Compare(b.index, c.index)
	})
}

// Stop ends everything and then the answer.
func (a *Assembler) Stop(s Stop) bool {
	cut := s.Reason == StopMaxTokens || s.Reason == StopOverflow
	if s.Reason == StopRefusal {
		s.Kept = a.kept
	}
	return a.Flush(cut) && a.rest() && a.emit(Delta{Kind: DeltaStop, Stop: s})
}

// rest keeps with a message that says nothing what no part followed.
func (a *Assembler) rest() bool {
	if len(a.extra) == 0 {
		return true
	}
	if !a.Start(sayKey, PartText, "", "") {
		return false
	}
	b := a.open[sayKey]
	delete(a.open, sayKey)
	return a.end(b, &events.ChatResponse{Form: events.FormMessage})
}

// event returns what is stored of a complete part; nil for one that says nothing.
func (b *building) event() events.Event {
	text := b.text.String()
	kept := b.metadata.Len() > 0 || len(b.extra) > 0
	switch b.part {
	case PartReasoning:
		if text == "" && !kept {
			return nil
		}
		return &events.ChatResponse{Form: events.FormReasoning, Text: text}
	case PartCall:
		return b.call(arguments(text))
	case PartData:
		return &events.ChatResponse{Form: events.FormData, Data: dataOf(text)}
	}
	if strings.TrimSpace(text) == "" && !kept {
		return nil
	}
	return &events.ChatResponse{Form: events.FormMessage, Text: text}
}

// dataOf returns what a model that was to follow a schema said: its JSON, or else, as jp stores
// it, its words as a string. That is no valid answer, but it is what was said. Nor is JSON that
// jp could not load.
func dataOf(text string) jsontext.Value {
	v := jsontext.Value(strings.TrimSpace(text))
	if events.Loadable(v) == nil {
		return v
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil { // it is not UTF-8, which no reader gives
		return jsontext.Value("null")
	}
	return quoted
}

func (b *building) call(args jsontext.Value) events.Event {
	return &events.ToolCallRequest{ID: b.id, Name: b.name, Arguments: args}
}

// arguments returns the text of arguments as an object, nil when it is none that can be stored.
// No text is the empty object: that is how tools without parameters are called.
func arguments(text string) jsontext.Value {
	if strings.TrimSpace(text) == "" {
		return jsontext.Value("{}")
	}
	v := jsontext.Value(text)
	if v.Kind() != '{' || events.Loadable(v) != nil {
		return nil
	}
	return v
}
