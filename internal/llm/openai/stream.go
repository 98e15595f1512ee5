package openai

import (
	"encoding/json"
	"io"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/openai/openai-go/v3/responses"
)

// A reader makes deltas of the provider's events.
type reader struct {
	model     *Model
	names     *llm.Names
	assembler *llm.Assembler
	items     map[int64]*item
	called    bool   // it wants results of tools
	refusal   string // what it says when it will not answer
	refused   bool
	done      bool // the provider, or whoever listens, is done
}

// An item is one that is being read, by its index in the answer.
type item struct {
	said  bool // some of its text came in fragments
	parts int  // of a summary
}

func newReader(
	m *Model, r *llm.Request, names *llm.Names, yield func(llm.Delta, error) bool,
) *reader {
	return &reader{
		model: m, names: names, items: map[int64]*item{},
		assembler: llm.NewAssembler(r, llm.Emit(yield)),
	}
}

// read reads the answer to its end. It returns nil when nobody listens any more.
func (r *reader) read(body io.Reader) error {
	for ev, err := range llm.ReadSSE(body, 0) {
		if err != nil {
			return llm.StreamError(r.model.at.Provider, err)
		}
		if string(ev.Data) == "[DONE]" {
			continue
		}
		if err := r.event(ev.Data); err != nil && !r.assembler.Quiet() {
			return err
		}
		if r.done || r.assembler.Quiet() {
			return nil
		}
	}
	return &llm.CutError{Provider: r.model.at.Provider}
}

// decode reads an event into one of the library's types.
func decode[T any](r *reader, data []byte) (T, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return v, &llm.WireError{Provider: r.model.at.Provider, Err: err}
	}
	return v, nil
}

// A delta is what all fragments have in common: there are many, and the library's types are
// dear to decode.
type delta struct {
	Delta       string `json:"delta"`
	Text        string `json:"text"`
	OutputIndex int64  `json:"output_index"`
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
	case "response.output_text.delta", "response.reasoning_summary_text.delta",
		"response.reasoning_text.delta", "response.function_call_arguments.delta":
		r.fragment(head.OutputIndex, head.Delta)
	case "response.reasoning_summary_part.added":
		r.part(head.OutputIndex)
	case "response.refusal.delta":
		r.refused = true
		r.refusal += head.Delta
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

func (r *reader) fragment(index int64, text string) {
	if it := r.items[index]; it != nil {
		it.said = true
		r.assembler.Append(int(index), text)
	}
}

// part sets a paragraph between the parts of a summary.
func (r *reader) part(index int64) {
	it := r.items[index]
	if it == nil {
		return
	}
	if it.parts++; it.parts > 1 {
		r.assembler.Append(int(index), "\n\n")
	}
}

func (r *reader) added(data []byte) error {
	ev, err := decode[responses.ResponseOutputItemAddedEvent](r, data)
	if err != nil {
		return err
	}
	r.open(ev.OutputIndex, ev.Item)
	return nil
}

// open starts the part that an item is. Items of the provider's own tools are none.
func (r *reader) open(index int64, it responses.ResponseOutputItemUnion) {
	key := int(index)
	switch it.Type {
	case "message":
		r.assembler.Start(key, llm.PartText, "", "")
	case "reasoning":
		r.assembler.Start(key, llm.PartReasoning, "", "")
	case "function_call":
		r.called = true
		r.assembler.Start(key, llm.PartCall, it.CallID, r.names.Tool(it.Name))
	default:
		return
	}
	r.items[index] = &item{}
}

func (r *reader) ended(data []byte) error {
	ev, err := decode[responses.ResponseOutputItemDoneEvent](r, data)
	if err != nil {
		return err
	}
	it := r.items[ev.OutputIndex]
	if it == nil {
		// Some servers say only what is whole.
		r.open(ev.OutputIndex, ev.Item)
		if it = r.items[ev.OutputIndex]; it == nil {
			return nil
		}
	}
	if !it.said {
		r.assembler.Append(int(ev.OutputIndex), whole(ev.Item))
	}
	r.note(int(ev.OutputIndex), ev.Item)
	delete(r.items, ev.OutputIndex)
	r.assembler.End(int(ev.OutputIndex))
	return nil
}

// whole returns the text of an item that did not come in fragments.
func whole(it responses.ResponseOutputItemUnion) string {
	text := ""
	switch it.Type {
	case "message":
		for _, c := range it.Content {
			text += c.Text
		}
	case "reasoning":
		for i, s := range it.Summary {
			if i > 0 {
				text += "\n\n"
			}
			text += s.Text
		}
	case "function_call":
		text = it.Arguments.OfString
	}
	return text
}

// note keeps what is wanted back with the item.
func (r *reader) note(key int, it responses.ResponseOutputItemUnion) {
	switch it.Type {
	case "message":
		if whole(it) == "" {
			return // nothing was said, so nothing is kept
		}
		r.assembler.Note(key, llm.MetadataOpenAIItemID, it.ID)
		if it.Phase != "" {
			r.assembler.Note(key, llm.MetadataOpenAIPhase, string(it.Phase))
		}
	case "reasoning":
		// Without its encrypted form it can not be given back: its id would name nothing.
		if it.EncryptedContent != "" {
			r.assembler.Note(key, llm.MetadataOpenAIItemID, it.ID)
			r.assembler.Note(key, llm.MetadataOpenAIEncrypted, it.EncryptedContent)
		}
	}
}

// finish reads how the answer ended.
func (r *reader) finish(data []byte) error {
	ev, err := decode[struct {
		Type     string             `json:"type"`
		Response responses.Response `json:"response"`
	}](r, data)
	if err != nil {
		return err
	}
	if ev.Type == "response.failed" {
		return r.fail(string(ev.Response.Error.Code), ev.Response.Error.Message)
	}
	if ev.Response.JSON.Usage.Valid() {
		r.assembler.Usage(usage(ev.Response))
	}
	r.assembler.Stop(r.stop(ev.Type, ev.Response))
	r.done = true
	return nil
}

func usage(res responses.Response) llm.Usage {
	u := res.Usage
	in := u.InputTokensDetails
	return llm.Usage{
		Input:     max(0, u.InputTokens-in.CachedTokens-in.CacheWriteTokens),
		CacheRead: in.CachedTokens, CacheWrite: in.CacheWriteTokens,
		Output: u.OutputTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens, Model: res.Model,
	}
}

func (r *reader) stop(kind string, res responses.Response) llm.Stop {
	reason := res.IncompleteDetails.Reason
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
		return llm.Stop{Reason: llm.StopTools, Native: string(res.Status)}
	default:
		return llm.Stop{Reason: llm.StopEnd, Native: string(res.Status)}
	}
}

// failure reads an event that tells of an error; it has two forms.
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
	if f.Code == "" {
		f.Code = f.Type
	}
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
