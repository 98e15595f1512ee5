package events

import (
	"time"

	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// A reader reads the members of one element.
type reader struct {
	raw     []byte
	members []jsonspan.Member
	options DecodeOptions
	largest *int64 // of all content whose size was checked; may be nil
	slots   []slot
	view    view
	meta    Metadata
	// memory holds the members of objects in the element; nil until the first one.
	memory *[]jsonspan.Member
}

// readElement returns the element with the bytes raw, which it keeps. ms holds the members of raw
// and provides memory for more; it is not kept.
func readElement(raw []byte, ms *[]jsonspan.Member, o DecodeOptions) (*Element, *placedError) {
	e := &Element{raw: raw, kind: kindOf(raw, *ms)}
	r := &reader{raw: raw, members: *ms, options: o, largest: &e.largest, memory: ms}
	if !isRead(e.kind) {
		e.event, e.time = &Unknown{Type: string(e.kind)}, r.anyTime()
		return e, nil
	}
	var err *placedError
	if e.kind.IsEvent() {
		if e.meta, err = r.metadata(); err != nil {
			return nil, err
		}
		r.meta = e.meta
	}
	if e.kind == KindConfigDelta {
		e.time = r.anyTime() // jp accepts anything and replaces it by the current time
	} else if e.time, err = r.time("timestamp"); err != nil {
		return nil, err
	}
	if e.event, err = r.read(e.kind); err != nil {
		return nil, err
	}
	e.slots, e.view = r.slots, r.view
	return e, nil
}

// isRead reports whether a kind can be decoded as an event.
func isRead(k Kind) bool { return k.IsEvent() || k == KindConfigDelta || k == KindCompaction }

// read decodes an event of the given kind.
func (r *reader) read(k Kind) (Event, *placedError) {
	switch k {
	case KindTurnStart:
		return r.turnStart()
	case KindChatRequest:
		return r.chatRequest()
	case KindChatResponse:
		return r.chatResponse()
	case KindToolCallRequest:
		return r.toolCallRequest()
	case KindToolCallResponse:
		return r.toolCallResponse()
	case KindInquiryRequest:
		return r.inquiryRequest()
	case KindInquiryResponse:
		return r.inquiryResponse()
	case KindConfigDelta:
		return r.configDelta()
	default:
		return r.compaction()
	}
}

func (r *reader) turnStart() (Event, *placedError) {
	for _, m := range r.members {
		if m.Name != "timestamp" && m.Name != "type" && m.Name != "metadata" {
			// jp then refuses the whole stream.
			return nil, errorAt(m.Start, "a turn_start has no member %s", printable(m.Name))
		}
	}
	return &TurnStart{}, nil
}

func (r *reader) chatRequest() (Event, *placedError) {
	var ev ChatRequest
	var err *placedError
	if ev.Content, err = r.string("content"); err != nil {
		return nil, err
	}
	if ev.Schema, err = r.object("schema"); err != nil {
		return nil, err
	}
	if ev.Author, err = r.optionalString("author"); err != nil {
		return nil, err
	}
	if ev.Resources, err = r.resources(); err != nil {
		return nil, err
	}
	return &ev, nil
}

func (r *reader) chatResponse() (Event, *placedError) {
	for form, name := range []string{"message", "reasoning"} {
		if m, ok := jsonspan.Find(r.members, name); ok && jsonspan.IsString(m.Value(r.raw)) {
			return &ChatResponse{Form: Form(form), Text: jsonspan.Text(m.Value(r.raw))}, nil
		}
	}
	m, ok := jsonspan.Find(r.members, "data")
	if !ok {
		return nil, errorAt(0, "none of message, reasoning, data")
	}
	return &ChatResponse{Form: FormData, Data: jsonspan.Compact(m.Value(r.raw))}, nil
}

func (r *reader) toolCallRequest() (Event, *placedError) {
	var ev ToolCallRequest
	var err *placedError
	if ev.ID, err = r.string("id"); err != nil {
		return nil, err
	}
	if ev.Name, err = r.string("name"); err != nil {
		return nil, err
	}
	m, ok := jsonspan.Find(r.members, "arguments")
	if !ok {
		ev.Arguments = jsontext.Value("{}")
		return &ev, nil
	}
	if !jsonspan.IsObject(m.Value(r.raw)) {
		return nil, errorAt(m.At, "arguments: not an object")
	}
	ev.Arguments = decodeStrings(m.Value(r.raw))
	return &ev, nil
}

func (r *reader) toolCallResponse() (Event, *placedError) {
	var ev ToolCallResponse
	var err *placedError
	if ev.ID, err = r.string("id"); err != nil {
		return nil, err
	}
	if ev.IsError, err = r.bool("is_error"); err != nil {
		return nil, err
	}
	if ev.Blocks, err = r.blocks(); err != nil {
		return nil, err
	}
	return &ev, nil
}

func (r *reader) inquiryRequest() (Event, *placedError) {
	var ev InquiryRequest
	var err *placedError
	if ev.ID, err = r.string("id"); err != nil {
		return nil, err
	}
	if ev.Source, err = r.tagged("source", "source"); err != nil {
		return nil, err
	}
	if ev.Question, err = r.question(); err != nil {
		return nil, err
	}
	return &ev, nil
}

// question reads the question of a tool. Only the tag of the answer's type is checked, because
// nothing depends on its other members, which may have an older or newer form than jp reads.
func (r *reader) question() (jsontext.Value, *placedError) {
	m, err := r.required("question")
	if err != nil {
		return nil, err
	}
	sub, err := r.sub(m)
	if err != nil {
		return nil, err
	}
	if _, err := sub.string("text"); err != nil {
		return nil, err.in("question")
	}
	if _, err := sub.tagged("answer_type", "type"); err != nil {
		return nil, err.in("question")
	}
	return jsonspan.Compact(m.Value(r.raw)), nil
}

func (r *reader) inquiryResponse() (Event, *placedError) {
	id, err := r.string("id")
	if err != nil {
		return nil, err
	}
	m, err := r.required("answer")
	if err != nil {
		return nil, err
	}
	return &InquiryResponse{ID: id, Answer: jsonspan.Compact(m.Value(r.raw))}, nil
}

// configDelta never fails, because jp's reader does not either.
func (r *reader) configDelta() (Event, *placedError) {
	if m, ok := jsonspan.Find(r.members, "delta"); ok {
		if jsonspan.IsObject(m.Value(r.raw)) {
			return &ConfigDelta{Delta: jsonspan.Compact(m.Value(r.raw))}, nil
		}
		return &ConfigDelta{Delta: orEmpty(nil)}, nil
	}
	var settings []jsonspan.Field
	for _, m := range r.members {
		if m.Name != "type" && m.Name != "timestamp" {
			value := jsonspan.Compact(m.Value(r.raw))
			settings = append(settings, jsonspan.Field{Name: m.Name, Value: value})
		}
	}
	return &ConfigDelta{Delta: jsonspan.Object(settings), Flattened: settings != nil}, nil
}

func (r *reader) compaction() (Event, *placedError) {
	var ev Compaction
	var err *placedError
	if ev.FromTurn, err = r.count("from_turn"); err != nil {
		return nil, err
	}
	if ev.ToTurn, err = r.count("to_turn"); err != nil {
		return nil, err
	}
	if ev.Summary, err = r.summary(); err != nil {
		return nil, err
	}
	if ev.StripReasoning, err = r.reasoning(); err != nil {
		return nil, err
	}
	if ev.ToolCalls, err = r.policy(); err != nil {
		return nil, err
	}
	return &ev, nil
}

// reasoning reads the policy for reasoning. The only one is "strip".
func (r *reader) reasoning() (strip bool, _ *placedError) {
	m, ok := r.optional("reasoning")
	if !ok {
		return false, nil
	}
	name, err := r.string("reasoning")
	if err == nil && name != "strip" {
		err = errorAt(m.At, "reasoning: unknown policy %s", printable(name))
	}
	return err == nil, err
}

func (r *reader) summary() (*string, *placedError) {
	m, ok := r.optional("summary")
	if !ok {
		return nil, nil
	}
	sub, err := r.sub(m)
	if err != nil {
		return nil, err
	}
	s, err := sub.string("summary")
	if err != nil {
		return nil, err.in("summary")
	}
	return &s, nil
}

func (r *reader) policy() (*ToolCallPolicy, *placedError) {
	m, ok := r.optional("tool_calls")
	if !ok {
		return nil, nil
	}
	sub, err := r.sub(m)
	if err != nil {
		return nil, err
	}
	p, err := sub.toolCallPolicy()
	return p, err.in("tool_calls")
}

// toolCallPolicy reads a policy, with no defaults for missing members: a policy silently decides
// what the model no longer sees.
func (r *reader) toolCallPolicy() (*ToolCallPolicy, *placedError) {
	var p ToolCallPolicy
	name, err := r.string("policy")
	switch {
	case err != nil:
		return nil, err
	case name == "omit":
		return &ToolCallPolicy{Omit: true}, nil
	case name != "strip":
		m, _ := jsonspan.Find(r.members, "policy")
		return nil, errorAt(m.At, "unknown policy %s", printable(name))
	}
	if p.Request, err = r.bool("request"); err != nil {
		return nil, err
	}
	if p.Response, err = r.bool("response"); err != nil {
		return nil, err
	}
	return &p, nil
}

func (r *reader) metadata() (Metadata, *placedError) {
	m, ok := jsonspan.Find(r.members, "metadata")
	if !ok {
		return Metadata{}, nil
	}
	if !jsonspan.IsObject(m.Value(r.raw)) {
		return Metadata{}, errorAt(m.At, "metadata: not an object")
	}
	return Metadata{raw: m.Value(r.raw)}, nil
}

// anyTime returns the timestamp, or the zero time if it cannot be read.
func (r *reader) anyTime() time.Time {
	t, err := r.time("timestamp")
	if err != nil {
		return time.Time{}
	}
	return t
}
