package events

import (
	"time"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// A reader reads the members of an element, or of an object in it. The readers of one element share
// a reading: the first of them that finds a fault sets its error, and what is read afterwards does
// not count.
type reader struct {
	raw     []byte
	members []jsonspan.Member
	*reading
}

// A reading is what was found in an element so far. Many elements are read with the same one.
type reading struct {
	options DecodeOptions
	memory  []jsonspan.Member // of the element and the objects in it
	largest *int64            // of all content whose size was checked; may be nil
	slots   []slot
	view    view
	meta    Metadata
	err     *placedError
}

// begin forgets what was found in another element.
func (r *reading) begin(largest *int64) {
	*r = reading{options: r.options, memory: r.memory, largest: largest}
}

// fail sets the error, unless there is one.
func (r *reading) fail(at int, format string, args ...any) {
	if r.err == nil {
		r.err = errorAt(at, format, args...)
	}
}

// in reads an enclosed part, whose name precedes what is wrong in it.
func (r *reading) in(name string, read func()) {
	if r.err == nil {
		read()
		r.err = r.err.in(name)
	}
}

// readElement returns the element with the bytes raw, which it keeps. The memory of the reading
// holds the members of raw.
func readElement(raw []byte, found *reading) (*Element, *placedError) {
	e := &Element{raw: raw, kind: kindOf(raw, found.memory)}
	found.begin(&e.largest)
	r := &reader{raw, found.memory, found}
	if !isRead(e.kind) {
		e.event, e.time = &Unknown{Type: string(e.kind)}, r.anyTime()
		return e, nil
	}
	if e.kind.IsEvent() {
		e.meta = r.metadata()
		r.meta = e.meta
	}
	if e.kind == KindConfigDelta {
		e.time = r.anyTime() // jp accepts anything and replaces it by the current time
	} else {
		e.time = r.time("timestamp")
	}
	e.event = r.read(e.kind)
	e.slots, e.view = r.slots, r.view
	return e, r.err
}

// isRead reports whether a kind can be decoded as an event.
func isRead(k Kind) bool { return k.IsEvent() || k == KindConfigDelta || k == KindCompaction }

// read decodes an event of the given kind.
func (r *reader) read(k Kind) Event {
	switch k {
	case KindTurnStart:
		return r.turnStart()
	case KindChatRequest:
		return &ChatRequest{
			Content: r.string("content"), Schema: r.object("schema"),
			Author: r.optionalString("author"), Resources: r.resources(),
		}
	case KindChatResponse:
		return r.chatResponse()
	case KindToolCallRequest:
		return &ToolCallRequest{
			ID: r.string("id"), Name: r.string("name"), Arguments: r.arguments(),
		}
	case KindToolCallResponse:
		return &ToolCallResponse{
			ID: r.string("id"), IsError: r.bool("is_error"), Blocks: r.blocks(),
		}
	case KindInquiryRequest:
		return &InquiryRequest{
			ID: r.string("id"), Source: r.tagged("source", "source"), Question: r.question(),
		}
	case KindInquiryResponse:
		return &InquiryResponse{
			ID: r.string("id"), Answer: jsonspan.Compact(r.required("answer").Value(r.raw)),
		}
	case KindConfigDelta:
		return r.configDelta()
	default:
		return &Compaction{
			FromTurn: r.count("from_turn"), ToTurn: r.count("to_turn"), Summary: r.summary(),
			StripReasoning: r.reasoning(), ToolCalls: r.policy(),
		}
	}
}

func (r *reader) turnStart() Event {
	for _, m := range r.members {
		if m.Name != "timestamp" && m.Name != "type" && m.Name != "metadata" {
			// jp then refuses the whole stream.
			r.fail(m.Start, "a turn_start has no member %s", printable(m.Name))
		}
	}
	return &TurnStart{}
}

func (r *reader) chatResponse() Event {
	for form, name := range []string{"message", "reasoning"} {
		if text, ok := r.maybe(name); ok {
			return &ChatResponse{Form: Form(form), Text: text}
		}
	}
	m, ok := jsonspan.Find(r.members, "data")
	if !ok {
		r.fail(0, "none of message, reasoning, data")
	}
	return &ChatResponse{Form: FormData, Data: jsonspan.Compact(m.Value(r.raw))}
}

func (r *reader) arguments() jsontext.Value {
	m, ok := jsonspan.Find(r.members, "arguments")
	if !ok {
		return jsontext.Value("{}")
	}
	if !jsonspan.IsObject(m.Value(r.raw)) {
		r.fail(m.At, "arguments: not an object")
	}
	return decodeStrings(m.Value(r.raw))
}

// question reads the question of a tool. Only the tag of the answer's type is checked, because
// nothing depends on its other members, which may have an older or newer form than jp reads.
func (r *reader) question() jsontext.Value {
	m := r.required("question")
	sub := r.sub(m)
	r.in(m.Name, func() {
		sub.string("text")
		sub.tagged("answer_type", "type")
	})
	return jsonspan.Compact(m.Value(r.raw))
}

// configDelta never fails, because jp's reader does not either.
func (r *reader) configDelta() Event {
	if m, ok := jsonspan.Find(r.members, "delta"); ok {
		if jsonspan.IsObject(m.Value(r.raw)) {
			return &ConfigDelta{Delta: jsonspan.Compact(m.Value(r.raw))}
		}
		return &ConfigDelta{Delta: orEmpty(nil)}
	}
	var settings []jsonspan.Field
	for _, m := range r.members {
		if m.Name != "type" && m.Name != "timestamp" {
			value := jsonspan.Compact(m.Value(r.raw))
			settings = append(settings, jsonspan.Field{Name: m.Name, Value: value})
		}
	}
	return &ConfigDelta{Delta: jsonspan.Object(settings), Flattened: settings != nil}
}

// reasoning reads the policy for reasoning. The only one is "strip".
func (r *reader) reasoning() (strip bool) {
	m, strip := r.optional("reasoning")
	if strip {
		if name := r.text(m); name != "strip" {
			r.fail(m.At, "reasoning: unknown policy %s", printable(name))
		}
	}
	return strip
}

func (r *reader) summary() *string {
	m, ok := r.optional("summary")
	if !ok {
		return nil
	}
	sub, text := r.sub(m), ""
	r.in(m.Name, func() { text = sub.string("summary") })
	return &text
}

func (r *reader) policy() (p *ToolCallPolicy) {
	m, ok := r.optional("tool_calls")
	if !ok {
		return nil
	}
	sub := r.sub(m)
	r.in(m.Name, func() { p = sub.toolCallPolicy() })
	return p
}

// toolCallPolicy reads a policy, with no defaults for missing members: a policy silently decides
// what the model no longer sees.
func (r *reader) toolCallPolicy() *ToolCallPolicy {
	m := r.required("policy")
	switch name := r.text(m); name {
	case "omit":
		return &ToolCallPolicy{Omit: true}
	case "strip":
		return &ToolCallPolicy{Request: r.bool("request"), Response: r.bool("response")}
	default:
		r.fail(m.At, "unknown policy %s", printable(name))
		return nil
	}
}

func (r *reader) metadata() Metadata {
	m, ok := jsonspan.Find(r.members, "metadata")
	if !ok {
		return Metadata{}
	}
	if !jsonspan.IsObject(m.Value(r.raw)) {
		r.fail(m.At, "metadata: not an object")
		return Metadata{}
	}
	return Metadata{raw: m.Value(r.raw)}
}

// anyTime returns the timestamp, or the zero time if it cannot be read.
func (r *reader) anyTime() time.Time {
	t := r.time("timestamp")
	r.err = nil // it is the first member that is read
	return t
}
