package chat

import (
	"cmp"
	"encoding/json"
	"io"
	"strconv"

	"github.com/git-jp/git-jp/internal/llm"
)

// Keys of the parts that are not calls; the keys of calls count from 0.
const (
	keyText      = -1
	keyReasoning = -2
)

// A reader turns the server's chunks into deltas.
type reader struct {
	model     *Model
	names     *llm.Names
	assembler *llm.Assembler
	memory    memory
	tagged    tagged
	calls     []*call
	served    string // the model as the server names it
	refusal   string
	finish    string // the reason for the end, by the server
	native    string // the reason by the server behind it
	extra     []json.RawMessage
	cited     json.RawMessage // the last list received
}

// A call is a call while it is read.
type call struct {
	index    int // on the wire
	id, name string
	args     string // before its name was known
	started  bool
}

func newReader(
	m *Model, r *llm.Request, names *llm.Names, yield func(llm.Delta, error) bool,
) *reader {
	return &reader{model: m, names: names, assembler: llm.NewAssembler(r, yield)}
}

// read reads the answer to its end. It returns nil once the consumer has stopped.
func (r *reader) read(body io.Reader) error {
	complete := func() bool { return r.finish != "" }
	err := r.assembler.Read(r.model.at.Provider, body, complete, func(data []byte) (bool, error) {
		if string(data) == "[DONE]" {
			return true, nil
		}
		return false, r.chunk(data)
	})
	if err == nil && !r.assembler.Quiet() {
		r.end()
	}
	return r.assembler.Broken(err)
}

func (r *reader) chunk(data []byte) error {
	var c chunk
	if err := llm.Decode(r.model.at.Provider, data, &c); err != nil {
		return err
	}
	if llm.Given(c.Error) {
		return r.failure(c.Error)
	}
	if c.Model != "" {
		r.served = c.Model
	}
	if llm.Given(c.Cited) {
		r.cited = c.Cited
	}
	if c.Usage != nil {
		r.assembler.Spent(c.Usage.usage(r.served))
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // only one answer was requested
		}
		if llm.Given(choice.Error) {
			return r.failure(choice.Error)
		}
		if err := r.choice(choice); err != nil {
			return err
		}
	}
	return nil
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // a value that is not a string reads as empty
	return s
}

func (r *reader) choice(c wireChoice) error {
	thought := text(c.Delta.ReasoningContent)
	if thought == "" {
		thought = text(c.Delta.Reasoning)
	}
	said := ""
	r.extras(c.Delta.Annotations)
	r.extras(c.Delta.Images)
	if raw := c.Delta.Content; len(raw) > 0 && raw[0] == '[' {
		thought, said = r.mixed(raw)
	} else if llm.Given(raw) {
		said = text(raw)
	}
	r.details(c.Delta.Details)
	r.think(thought)
	if r.model.dialect.tags {
		thought, said = r.tagged.split(said)
		r.think(thought)
	}
	r.say(said)
	r.refusal += c.Delta.Refusal
	for _, d := range c.Delta.Calls {
		r.call(d.Index, call{id: d.ID, name: d.Function.Name, args: fragment(d.Function.Arguments)})
	}
	if c.Finish != "" {
		r.finish, r.native = c.Finish, c.Native
	}
	switch c.Finish {
	case "error", "insufficient_system_resource":
		return &llm.APIError{
			Provider: r.model.at.Provider, Type: c.Finish, Retryable: true,
			Message: "the server gave up in the middle of the answer",
		}
	}
	return nil
}

// fragment returns a fragment of a call's arguments. Some servers send an object where the format
// has a string of JSON.
func fragment(raw json.RawMessage) string {
	if len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	return text(raw)
}

// mixed reads Mistral's form of content: pieces of text, thinking, and other types.
func (r *reader) mixed(raw []byte) (thought, said string) {
	var pieces []json.RawMessage
	if json.Unmarshal(raw, &pieces) != nil {
		return "", ""
	}
	for _, raw := range pieces {
		var p struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Thinking []struct {
				Text string `json:"text"`
			} `json:"thinking"`
		}
		if json.Unmarshal(raw, &p) != nil {
			continue
		}
		for _, t := range p.Thinking {
			thought += t.Text
		}
		if said += p.Text; p.Type != "text" && p.Type != "thinking" {
			r.extra = append(r.extra, raw)
		}
	}
	return thought, said
}

// extras keeps the elements of a list that no part can hold.
func (r *reader) extras(raw json.RawMessage) {
	var list []json.RawMessage
	if llm.Given(raw) && json.Unmarshal(raw, &list) == nil {
		r.extra = append(r.extra, list...)
	}
}

func (r *reader) details(raw json.RawMessage) {
	var list []json.RawMessage
	if !llm.Given(raw) || json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, d := range list {
		r.memory.add(d)
	}
	if len(r.memory.all) > 0 && !r.assembler.Started(keyReasoning) {
		r.assembler.Start(keyReasoning, llm.PartReasoning, "", "")
	}
}

func (r *reader) think(s string) {
	if s == "" {
		return
	}
	if !r.assembler.Started(keyReasoning) {
		r.assembler.Start(keyReasoning, llm.PartReasoning, "", "")
	}
	r.assembler.Append(keyReasoning, s)
}

// say continues the text. It ends the reasoning, unless details of it may still follow.
func (r *reader) say(s string) {
	if s == "" {
		return
	}
	r.thought()
	if !r.assembler.Started(keyText) {
		r.assembler.Start(keyText, llm.PartText, "", "")
	}
	r.assembler.Append(keyText, s)
}

func (r *reader) thought() {
	if len(r.memory.all) == 0 {
		r.assembler.End(keyReasoning)
	}
}

// call reads a fragment of a call. Some servers give all calls the number 0 and distinguish them by
// id, and some send no ids.
func (r *reader) call(index int, d call) {
	r.flush()
	r.thought()
	key := -1
	for i, c := range r.calls {
		if c.index == index && (d.id == "" || c.id == "" || c.id == d.id) {
			key = i
		}
	}
	if key < 0 {
		key = len(r.calls)
		r.calls = append(r.calls, &call{index: index})
	}
	c := r.calls[key]
	c.id = cmp.Or(c.id, d.id)
	c.name = cmp.Or(c.name, d.name)
	if c.args += d.args; c.name == "" {
		return
	}
	r.start(key, c)
	r.assembler.Append(key, c.args)
	c.args = ""
}

func (r *reader) start(key int, c *call) {
	if c.started {
		return
	}
	if c.started = true; c.id == "" {
		c.id = "call_" + strconv.Itoa(key)
	}
	r.assembler.Start(key, llm.PartCall, c.id, r.names.Tool(c.name))
}

// flush emits text that was held back.
func (r *reader) flush() {
	thought, said := r.tagged.rest()
	r.think(thought)
	r.say(said)
}

// end closes all parts, in the order in which they are stored.
func (r *reader) end() {
	r.flush()
	s := r.stop()
	cut := s.Reason == llm.StopMaxTokens || s.Reason == llm.StopOverflow
	r.memory.note(r.assembler, keyReasoning)
	r.assembler.End(keyReasoning)
	r.extras(r.cited)
	for _, raw := range r.extra {
		r.assembler.Extra(raw)
	}
	r.assembler.End(keyText)
	for key := range r.calls {
		if !cut {
			r.assembler.End(key)
		}
	}
	r.assembler.Settle()
	r.assembler.Stop(s)
}

func (r *reader) stop() llm.Stop {
	switch reason := r.finish; {
	case r.refusal != "", r.native == "refusal":
		return llm.Stop{Reason: llm.StopRefusal, Native: reason, Explanation: r.refusal}
	case reason == "content_filter":
		return llm.Stop{Reason: llm.StopRefusal, Native: reason, Category: reason}
	case reason == "length":
		return llm.Stop{Reason: llm.StopMaxTokens, Native: reason}
	case reason == "model_length":
		return llm.Stop{Reason: llm.StopOverflow, Native: reason}
	case len(r.calls) > 0:
		return llm.Stop{Reason: llm.StopTools, Native: reason}
	case reason == "stop", reason == "eos", reason == "end_turn":
		return llm.Stop{Reason: llm.StopEnd, Native: reason}
	default:
		return llm.Stop{Reason: llm.StopOther, Native: reason}
	}
}

// failure reads an error in the middle of a stream. Its code is an HTTP status or a word.
func (r *reader) failure(raw json.RawMessage) error {
	var f struct {
		Code    json.RawMessage `json:"code"`
		Type    string          `json:"type"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(raw, &f) != nil {
		f.Message = text(raw)
	}
	e := &llm.APIError{Provider: r.model.at.Provider, Type: f.Type, Message: f.Message}
	if word := text(f.Code); word != "" {
		e.Type = word
	}
	var status int
	if json.Unmarshal(f.Code, &status) == nil && e.Type == "" {
		e.Type = strconv.Itoa(status)
	}
	switch e.Type {
	case "server_error", "rate_limit_exceeded", "overloaded", "overloaded_error", "timeout",
		"internal_error", "service_unavailable":
		e.Retryable = true
	}
	e.Retryable = e.Retryable || status == 408 || status == 429 || status >= 500
	return llm.Classify(r.model.ID(), e)
}
