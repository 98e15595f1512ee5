package llm

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// An Assembler turns the output of an adapter into deltas, so that all adapters produce the same
// parts, events and order. An adapter names parts by its own keys, such as the index on the wire; a
// key may be used again after its part ended. Formats that do not mark the end of parts use
// [Assembler.Say].
//
// Once the consumer has stopped, see [Assembler.Quiet], nothing more is emitted.
type Assembler struct {
	tell  func(Delta, error) bool
	asked *Request
	quiet bool // the consumer has stopped
	data  bool // text is data, as the request demands
	next  int
	extra []jsontext.Value // for the next part that ends
	open  map[int]*building
	held  []*building
	kept  Kept
	said  Kept // up to the end of the last complete text
	spent *Usage
	calls []*events.ToolCallRequest
}

// A building is an incomplete part.
type building struct {
	key      int
	index    int
	part     PartKind
	id, name string
	text     strings.Builder
	metadata events.Metadata
	extra    []jsontext.Value
}

// NewAssembler returns an assembler for one answer to r that passes its deltas to the function of a
// stream.
func NewAssembler(r *Request, yield func(Delta, error) bool) *Assembler {
	return &Assembler{tell: yield, asked: r, data: r.Schema != nil, open: map[int]*building{}}
}

// Quiet reports whether the consumer has stopped.
func (a *Assembler) Quiet() bool { return a.quiet }

func (a *Assembler) emit(d Delta) { a.quiet = a.quiet || !a.tell(d, nil) }

// Start opens a part, and ends an open one of this key, whose text is kept. Text is data if the
// request has a schema. Id and name are a call's.
func (a *Assembler) Start(key int, part PartKind, id, name string) {
	a.End(key)
	if part == PartText && a.data {
		part = PartData
	}
	b := &building{key: key, index: a.next, part: part, id: id, name: name}
	a.next++
	a.open[key] = b
	a.emit(Delta{Kind: DeltaStart, Index: b.index, Part: part, ID: id, Name: name})
}

// Keep notes that an exchange ended well and the open part continues in another one: if that is
// refused, the text up to here stays.
func (a *Assembler) Keep(key int) {
	if b := a.open[key]; b != nil {
		a.kept = Kept{Part: b.index, Bytes: b.text.Len()}
	}
}

// KeepSaid is [Assembler.Keep] for an exchange that ended with a complete text.
func (a *Assembler) KeepSaid() { a.kept = a.said }

// Started reports whether the part is open.
func (a *Assembler) Started(key int) bool { return a.open[key] != nil }

// Said returns the text of an open part so far.
func (a *Assembler) Said(key int) string {
	if b := a.open[key]; b != nil {
		return b.text.String()
	}
	return ""
}

// Append adds text to a part. Text for a key without an open part is dropped.
func (a *Assembler) Append(key int, text string) {
	if b := a.open[key]; b != nil && text != "" {
		b.text.WriteString(text)
		a.emit(Delta{Kind: DeltaFragment, Index: b.index, Part: b.part, Text: text})
	}
}

// Replace sets the text of an open call, for formats that repeat complete arguments at the end: if
// a fragment was lost or repeated, the call must not run with what the others say.
func (a *Assembler) Replace(key int, arguments string) {
	if b := a.open[key]; b != nil && b.part == PartCall {
		b.text.Reset()
		b.text.WriteString(arguments)
	}
}

// Note stores a proof in the metadata of an open part, replacing an earlier one. An empty value is
// ignored, see [Proof].
func (a *Assembler) Note(key int, name, value string) {
	if b := a.open[key]; b != nil && value != "" {
		b.metadata = b.metadata.WithText(name, value)
	}
}

// NoteValue stores JSON in the metadata of an open part, unless jp could not load it.
func (a *Assembler) NoteValue(key int, name string, value jsontext.Value) {
	if b := a.open[key]; b != nil && events.Loadable(value) == nil {
		b.metadata = b.metadata.With(name, value)
	}
}

// Extra stores data of a provider that no part can hold, unchanged, such as its own searches and
// program runs. It is stored with the part that ends next. With a compaction, Extra stores which
// messages it replaces.
func (a *Assembler) Extra(raw []byte) {
	if v := jsontext.Value(raw); events.Loadable(v) == nil {
		a.extra = append(a.extra, covering(v.Clone(), a.asked))
	}
}

// ExtraOf is [Assembler.Extra] for data of an open part, such as its sources.
func (a *Assembler) ExtraOf(key int, raw []byte) {
	v := jsontext.Value(raw)
	if b := a.open[key]; b != nil && events.Loadable(v) == nil {
		b.extra = append(b.extra, v.Clone())
	}
}

// End closes a part. A call whose arguments are not a JSON object that can be stored is held back
// until [Assembler.Stop] knows whether it was cut off. If it was not, it gets no arguments, and its
// metadata has the original ones: such a call must not run. A call that repeats another, id and
// arguments included, was sent twice, and is not stored: it must not run twice.
func (a *Assembler) End(key int) {
	b := a.open[key]
	if b == nil {
		return
	}
	delete(a.open, key)
	if b.part == PartCall && arguments(b.text.String()) == nil {
		a.held = append(a.held, b)
		return
	}
	a.end(b, b.event())
}

func (a *Assembler) end(b *building, ev events.Event) {
	if b.part == PartText && ev != nil {
		a.said = Kept{Part: b.index, Bytes: b.text.Len()}
	}
	if c, ok := ev.(*events.ToolCallRequest); ok {
		if a.repeats(c) {
			ev = nil
		}
		a.calls = append(a.calls, c)
	}
	d := Delta{Kind: DeltaEnd, Index: b.index, Part: b.part, ID: b.id, Name: b.name, Event: ev}
	if ev != nil {
		d.Metadata = withExtra(b.metadata, slices.Concat(a.extra, b.extra))
		a.extra = nil
	}
	a.emit(d)
}

func (a *Assembler) repeats(c *events.ToolCallRequest) bool {
	return slices.ContainsFunc(a.calls, func(o *events.ToolCallRequest) bool {
		return c.ID != "" && c.ID == o.ID && c.Name == o.Name &&
			bytes.Equal(c.Arguments, o.Arguments)
	})
}

// withExtra stores extra data as a list in the metadata.
func withExtra(md events.Metadata, extra []jsontext.Value) events.Metadata {
	if len(extra) == 0 {
		return md
	}
	return md.WithJSON(events.MetadataExtra, extra)
}

// sayKey is the key of parts that [Assembler.Say] opens; adapters do not use it.
const sayKey = -1 << 30

// Say appends text to the open part if it is of this kind, else ends it and opens another, for
// formats that only send text.
func (a *Assembler) Say(part PartKind, text string) {
	if part == PartText && a.data {
		part = PartData
	}
	if b := a.open[sayKey]; b == nil || b.part != part {
		a.Start(sayKey, part, "", "")
	}
	a.Append(sayKey, text)
}

// NoteSaid is [Assembler.Note] for the part that Say writes.
func (a *Assembler) NoteSaid(name, value string) { a.Note(sayKey, name, value) }

// EndSaid closes the part that Say writes, if there is one.
func (a *Assembler) EndSaid() { a.End(sayKey) }

// Spent notes the usage of the exchange so far, which a later call replaces.
func (a *Assembler) Spent(u Usage) {
	u = u.plausible()
	a.spent = &u
}

// Settle reports the noted usage at the end of an exchange.
func (a *Assembler) Settle() {
	if a.spent != nil {
		a.emit(Delta{Kind: DeltaUsage, Usage: *a.spent})
		a.spent = nil
	}
}

// Broken reports the noted usage of an exchange that ended with an error, which is charged too, and
// returns the error, or nil once the consumer has stopped.
func (a *Assembler) Broken(err error) error {
	if err != nil {
		a.Settle()
	}
	if a.quiet {
		return nil
	}
	return err
}

// Read calls f with the data of each server-sent event until it reports the last one, and returns
// nil once the consumer has stopped. An answer that is complete may end with a bad connection, and
// any other not before it is.
func (a *Assembler) Read(
	provider string, body io.Reader, complete func() bool,
	f func(data []byte) (last bool, err error),
) error {
	for data, err := range wire.ReadSSE(body) {
		if err != nil && complete() {
			break
		}
		if err != nil {
			return StreamError(provider, err)
		}
		last, err := f(data)
		if a.quiet {
			return nil
		}
		if err != nil {
			return err
		}
		if last {
			break
		}
	}
	if !complete() {
		return &wire.CutError{Provider: provider}
	}
	return nil
}

// Flush ends the calls that were held back and, unless the answer was cut off, all open parts. If
// it was cut off, incomplete calls are dropped; incomplete text is kept. An answer that ended for
// an unknown reason counts as cut off: a call without arguments may have lost them.
func (a *Assembler) Flush(cut bool) {
	for _, b := range a.started() {
		if cut && b.part == PartCall {
			delete(a.open, b.key)
			a.held = append(a.held, b)
			continue
		}
		a.End(b.key)
	}
	held := a.held
	a.held = nil
	for _, b := range held {
		var ev events.Event
		if !cut {
			ev = b.call(jsontext.Value("{}"))
			b.metadata = b.metadata.WithText(MetadataArguments, b.text.String())
		}
		a.end(b, ev)
	}
}

// started returns the open parts, oldest first.
func (a *Assembler) started() []*building {
	return slices.SortedFunc(maps.Values(a.open), func(b, c *building) int {
		return cmp.Compare(b.index, c.index)
	})
}

// Stop ends all parts and then the answer.
func (a *Assembler) Stop(s Stop) {
	cut := true
	switch s.Reason {
	case StopEnd, StopTools, StopSequence:
		cut = false
	case StopRefusal:
		s.Kept = a.kept
	}
	s.Native, s.Category = oneLine(s.Native), oneLine(s.Category)
	s.Explanation = oneLine(s.Explanation)
	a.Flush(cut)
	a.rest()
	a.emit(Delta{Kind: DeltaStop, Stop: s})
}

// rest stores extra data that no part followed, with an empty message.
func (a *Assembler) rest() {
	if len(a.extra) == 0 {
		return
	}
	a.Start(sayKey, PartText, "", "")
	b := a.open[sayKey]
	delete(a.open, sayKey)
	a.end(b, &events.ChatResponse{Form: events.FormMessage})
}

// event returns the event to store for a complete part; nil for an empty one.
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

// dataOf returns the answer of a model that had to follow a schema: its JSON or else, as jp stores
// it, its text as a string. JSON that jp could not load becomes a string too. A string does not
// follow the schema, but keeps the answer.
func dataOf(text string) jsontext.Value {
	v := jsontext.Value(strings.TrimSpace(text))
	if events.Loadable(v) == nil {
		return v
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil { // not UTF-8, which no reader returns
		return jsontext.Value("null")
	}
	return quoted
}

func (b *building) call(args jsontext.Value) events.Event {
	return &events.ToolCallRequest{ID: b.id, Name: b.name, Arguments: args}
}

// arguments returns the text of arguments as an object, nil if it is not an object that can be
// stored. Empty text is the empty object: tools without parameters are called like that.
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
