package openai

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// A reader turns the provider's events into deltas.
type reader struct {
	model     *Model
	names     *llm.Names
	assembler *llm.Assembler
	items     items
	called    bool   // the answer has tool calls
	refusal   string // the model's text when it refuses
	refused   bool
	done      bool // the answer is complete, or the consumer has stopped
}

func newReader(
	m *Model, r *llm.Request, names *llm.Names, yield func(llm.Delta, error) bool,
) *reader {
	return &reader{
		model: m, names: names, items: items{ended: map[string]string{}},
		assembler: llm.NewAssembler(r, yield),
	}
}

// read reads the answer to its end. It returns nil once the consumer has stopped.
func (r *reader) read(body io.Reader) error {
	complete := func() bool { return r.done }
	err := r.assembler.Read(r.model.at.Provider, body, complete, func(data []byte) (bool, error) {
		if string(data) == "[DONE]" {
			return false, nil
		}
		err := r.event(data)
		return r.done, err
	})
	return r.assembler.Broken(err)
}

func decode[T any](r *reader, data []byte) (v T, err error) {
	err = llm.Decode(r.model.at.Provider, data, &v)
	return v, err
}

// A delta has the members that all fragments share.
type delta struct {
	Delta string `json:"delta"`
	place
}

func (r *reader) event(data []byte) error {
	head, err := decode[struct {
		Type string `json:"type"`
		delta
	}](r, data)
	if err != nil {
		return err
	}
	switch head.Type {
	case "response.output_text.delta":
		r.fragment(head.place, kindMessage, head.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.fragment(head.place, kindReasoning, head.Delta)
	case "response.function_call_arguments.delta":
		r.fragment(head.place, kindCall, head.Delta)
	case "response.reasoning_summary_part.added":
		r.part(head.place)
	case "response.refusal.delta":
		r.refuse(r.refusal + head.Delta)
	case "response.output_item.added":
		return r.added(data)
	case "response.output_item.done":
		return r.ended(data)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return r.finish(data)
	case "error":
		return r.failure(data)
	}
	return nil
}

func (r *reader) refuse(text string) { r.refused, r.refusal = true, text }

// fragment continues an item. A fragment of text whose item was not begun begins one; arguments of
// a call are dropped then, since the complete item has them.
func (r *reader) fragment(p place, kind, text string) {
	it := r.items.at(p, kind)
	if it == nil && kind == kindCall {
		return
	}
	if it == nil {
		it = r.open(p, wireOutput{Type: kind, ID: p.ItemID})
		it.guessed = true
	}
	r.say(it, text)
}

func (r *reader) say(it *item, text string) {
	it.said.WriteString(text)
	switch {
	case it.echoes(text):
	case it.echo != "":
		r.tell(it)
	default:
		r.assembler.Append(it.key, text)
	}
}

// tell begins the part of an item that turned out not to repeat an earlier one.
func (r *reader) tell(it *item) {
	it.echo = ""
	r.start(it)
	r.assembler.Append(it.key, it.said.String())
}

// part adds a blank line between the parts of a summary.
func (r *reader) part(p place) {
	it := r.items.at(p, kindReasoning)
	if it == nil || it.echo != "" {
		return
	}
	if it.parts++; it.parts > 1 {
		r.say(it, "\n\n")
	}
}

// An itemEvent begins or ends an item.
type itemEvent struct {
	place
	Item wireOutput `json:"item"`
}

func (r *reader) added(data []byte) error {
	ev, err := decode[itemEvent](r, data)
	if err != nil {
		return err
	}
	ev.ItemID = name(ev.Item)
	if !r.items.begun(ev.place, ev.Item.Type) {
		r.open(ev.place, ev.Item)
	}
	return nil
}

// open begins an item and its part. Items of the provider's own tools have no part.
func (r *reader) open(p place, it wireOutput) *item {
	switch it.Type {
	case kindMessage, kindReasoning, kindCall:
	default:
		return nil
	}
	open := r.items.add(p, it.Type)
	open.call, open.tool = it.CallID, r.names.Tool(it.Name)
	if open.echo == "" {
		r.start(open)
	}
	return open
}

func (r *reader) start(it *item) {
	switch it.kind {
	case kindCall:
		r.called = true
		r.assembler.Start(it.key, llm.PartCall, it.call, it.tool)
	case kindReasoning:
		r.assembler.Start(it.key, llm.PartReasoning, "", "")
	default:
		r.assembler.Start(it.key, llm.PartText, "", "")
	}
}

func (r *reader) ended(data []byte) error {
	ev, err := decode[itemEvent](r, data)
	if err != nil {
		return err
	}
	ev.ItemID = name(ev.Item)
	text := whole(ev.Item)
	it := r.items.over(ev.place, ev.Item.Type, text)
	if it == nil && r.items.repeated(ev.place, ev.Item.Type, text) {
		return nil
	}
	if it == nil {
		// Some servers send only complete items.
		if it = r.open(ev.place, ev.Item); it == nil {
			return r.extra(data)
		}
	}
	switch rest, ok := strings.CutPrefix(text, it.said.String()); {
	case ok:
		r.say(it, rest)
	case it.kind == kindCall && text != "":
		it.said.Reset()
		it.said.WriteString(text)
		r.assembler.Replace(it.key, text)
	}
	if it.echo != "" && (text == it.echo || text == "") {
		r.items.end(it, ev.ItemID, it.echo)
		return nil
	}
	if it.echo != "" {
		r.tell(it)
	}
	r.note(it.key, ev.Item)
	r.items.end(it, ev.ItemID, text)
	r.assembler.End(it.key)
	return nil
}

// extra stores an item of one of the provider's own tools, or of an unknown kind.
func (r *reader) extra(data []byte) error {
	ev, err := decode[struct {
		Item json.RawMessage `json:"item"`
	}](r, data)
	if err == nil && ev.Item != nil {
		r.assembler.Extra(ev.Item)
	}
	return err
}

// whole returns the text of a complete item.
func whole(it wireOutput) string {
	text := ""
	switch it.Type {
	case kindMessage:
		for _, c := range it.Content {
			text += c.Text
		}
	case kindReasoning:
		for i, s := range it.Summary {
			if i > 0 {
				text += "\n\n"
			}
			text += s.Text
		}
	case kindCall:
		text = it.Arguments
	}
	return text
}

// note stores the data of an item that must be sent back.
func (r *reader) note(key int, it wireOutput) {
	switch it.Type {
	case kindMessage:
		for _, c := range it.Content {
			if c.Type == "refusal" {
				r.refuse(c.Refusal)
			}
		}
		if whole(it) == "" {
			return // without text, nothing is stored
		}
		r.assembler.Note(key, llm.MetadataOpenAIItemID, it.ID)
		r.assembler.Note(key, llm.MetadataOpenAIPhase, it.Phase)
		for _, c := range it.Content {
			for _, a := range c.Annotations {
				r.assembler.ExtraOf(key, a)
			}
		}
	case kindReasoning:
		// Reasoning without its encrypted form cannot be sent back: its id would refer to nothing.
		if it.Encrypted != "" {
			r.assembler.Note(key, llm.MetadataOpenAIItemID, it.ID)
			r.assembler.Note(key, llm.MetadataOpenAIEncrypted, it.Encrypted)
		}
	}
}

// finish reads how the answer ended.
func (r *reader) finish(data []byte) error {
	ev, err := decode[struct {
		Type     string       `json:"type"`
		Response wireResponse `json:"response"`
	}](r, data)
	if err != nil {
		return err
	}
	if u := ev.Response.Usage; u != nil {
		r.assembler.Spent(u.usage(ev.Response.Model))
	}
	if ev.Type == "response.failed" {
		return r.fail(ev.Response.Error.Code, ev.Response.Error.Message)
	}
	r.assembler.Settle()
	r.assembler.Stop(r.stop(ev.Type, ev.Response))
	r.done = true
	return nil
}

func (r *reader) stop(kind string, res wireResponse) llm.Stop {
	reason := res.Incomplete.Reason
	switch {
	case kind == "response.cancelled":
		return llm.Stop{Reason: llm.StopOther, Native: "cancelled"}
	case kind == "response.incomplete" && reason == "max_output_tokens":
		return llm.Stop{Reason: llm.StopMaxTokens, Native: reason}
	case kind == "response.incomplete" && reason == "content_filter":
		return llm.Stop{Reason: llm.StopRefusal, Native: reason, Category: reason}
	case kind == "response.incomplete":
		return llm.Stop{Reason: llm.StopOther, Native: reason}
	case r.refused:
		return llm.Stop{Reason: llm.StopRefusal, Native: "refusal", Explanation: r.refusal}
	case r.called:
		return llm.Stop{Reason: llm.StopTools, Native: res.Status}
	default:
		return llm.Stop{Reason: llm.StopEnd, Native: res.Status}
	}
}

// failure reads an error event, which has two forms.
func (r *reader) failure(data []byte) error {
	type failure struct {
		Code    string `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	ev, err := decode[struct {
		failure
		Error *failure `json:"error"`
	}](r, data)
	if err != nil {
		return err
	}
	f := ev.failure
	if f.Type = ""; ev.Error != nil {
		f = *ev.Error
	}
	f.Code = cmp.Or(f.Code, f.Type)
	return r.fail(f.Code, f.Message)
}

func (r *reader) fail(code, message string) error {
	e := &llm.APIError{Provider: r.model.at.Provider, Type: code, Message: message}
	switch code {
	case "server_error", "rate_limit_exceeded", "overloaded", "slow_down", "timeout",
		"vector_store_timeout", "internal_server_error", "service_unavailable_error":
		e.Retryable = true
	}
	return llm.Classify(r.model.ID(), e)
}
