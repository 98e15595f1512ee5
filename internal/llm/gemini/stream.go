package gemini

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// A reader turns the provider's chunks into deltas.
type reader struct {
	model     *Model
	request   *llm.Request
	names     *llm.Names
	assembler *llm.Assembler
	calls     int
	stop      *llm.Stop
	extra     map[string]json.RawMessage // metadata of the answer, the latest by member
}

// A chunk is one piece of an answer. Its parts are kept as on the wire.
type chunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Grounding     json.RawMessage `json:"groundingMetadata"`
		Citations     json.RawMessage `json:"citationMetadata"`
		Addresses     json.RawMessage `json:"urlContextMetadata"`
		FinishReason  string          `json:"finishReason"`
		FinishMessage string          `json:"finishMessage"`
	} `json:"candidates"`
	Usage    *metadata `json:"usageMetadata"`
	Feedback *struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Model      string `json:"modelVersion"`
	ResponseID string `json:"responseId"`
	Error      *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	} `json:"error"`
}

// A metadata is the usage of an answer so far, on the wire.
type metadata struct {
	Prompt  int64 `json:"promptTokenCount"`
	Tools   int64 `json:"toolUsePromptTokenCount"`
	Cached  int64 `json:"cachedContentTokenCount"`
	Answer  int64 `json:"candidatesTokenCount"`
	Thought int64 `json:"thoughtsTokenCount"`
}

func newReader(
	m *Model, r *llm.Request, names *llm.Names, yield func(llm.Delta, error) bool,
) *reader {
	return &reader{
		model: m, request: r, names: names, assembler: llm.NewAssembler(r, yield),
		extra: map[string]json.RawMessage{},
	}
}

// read reads the answer to its end. It returns nil once the consumer has stopped.
func (r *reader) read(body io.Reader) error {
	complete := func() bool { return r.stop != nil }
	err := r.assembler.Read(r.model.at.Provider, body, complete, r.chunk)
	if err == nil && !r.assembler.Quiet() {
		r.end()
	}
	return r.assembler.Broken(err)
}

func (r *reader) end() {
	if r.calls > 0 && r.stop.Reason == llm.StopEnd {
		r.stop.Reason = llm.StopTools
	}
	for _, name := range slices.Sorted(maps.Keys(r.extra)) {
		r.assembler.Extra(fmt.Appendf(nil, "{%q:%s}", name, r.extra[name]))
	}
	r.assembler.EndSaid()
	r.assembler.Settle()
	r.assembler.Stop(*r.stop)
}

// chunk reads one chunk. The last chunk has the finish reason and the usage; the connection may
// stay open after it.
func (r *reader) chunk(data []byte) (last bool, err error) {
	var c chunk
	if err := llm.Decode(r.model.at.Provider, data, &c); err != nil {
		return false, err
	}
	if e := c.Error; e != nil {
		return false, llm.Classify(r.model.ID(), &llm.APIError{
			Provider: r.model.at.Provider, Type: e.Status, Message: e.Message,
			Retryable: e.Code == 429 || e.Code >= 500,
		})
	}
	if c.Usage != nil {
		u := usage(c.Usage)
		u.Model = c.Model
		r.assembler.Spent(u)
	}
	if f := c.Feedback; f != nil && f.Reason != "" {
		r.stop = &llm.Stop{
			Reason: llm.StopRefusal, Native: f.Reason,
			Category: strings.ToLower(f.Reason), Explanation: f.Message,
		}
	}
	for _, candidate := range c.Candidates {
		if candidate.Index != 0 {
			continue // only one answer was requested
		}
		for _, raw := range candidate.Content.Parts {
			var p part
			if llm.Decode(r.model.at.Provider, raw, &p) == nil { // a part is an object
				r.part(p, raw, c.ResponseID)
			}
		}
		for name, raw := range map[string]json.RawMessage{
			"groundingMetadata": candidate.Grounding, "citationMetadata": candidate.Citations,
			"urlContextMetadata": candidate.Addresses,
		} {
			if len(raw) > 2 && string(raw) != "null" { // not an empty object
				r.extra[name] = raw
			}
		}
		if candidate.FinishReason != "" {
			s := stop(candidate.FinishReason, candidate.FinishMessage)
			r.stop = &s
		}
	}
	return r.stop != nil && c.Usage != nil, nil
}

// part reads one part. Parts of unknown kinds are kept unchanged. Text continues from chunk to
// chunk until a signature ends it.
func (r *reader) part(p part, raw json.RawMessage, response string) {
	switch {
	case p.Call != nil:
		r.assembler.EndSaid()
		r.call(p, response)
	case p.Text != nil:
		kind := llm.PartText
		if p.Thought {
			kind = llm.PartReasoning
		}
		if *p.Text == "" && p.Signature == "" {
			return
		}
		r.assembler.Say(kind, *p.Text)
		if p.Signature != "" {
			r.assembler.NoteSaid(llm.MetadataGoogleSignature, p.Signature)
			r.assembler.EndSaid()
		}
	case says(raw):
		r.assembler.EndSaid()
		r.assembler.Extra(raw)
	}
}

// says reports whether a part of an unknown kind has more than a signature.
func says(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	delete(members, "thoughtSignature")
	delete(members, "thought")
	return len(members) > 0
}

// call reads a call, which arrives in one piece. Its id is the provider's, or derived from that of
// the answer.
func (r *reader) call(p part, response string) {
	key := r.calls
	r.calls++
	id := p.Call.ID
	if id == "" {
		id = response + "_" + strconv.Itoa(key)
		if response == "" {
			id = llm.MadeUpID(r.request, p.Call.Name, key)
		}
	}
	r.assembler.Start(key, llm.PartCall, id, r.names.Tool(p.Call.Name))
	if args := string(p.Call.Args); args != "null" {
		r.assembler.Append(key, args)
	}
	r.assembler.Note(key, llm.MetadataGoogleSignature, p.Signature)
	r.assembler.End(key)
}

func stop(reason, message string) llm.Stop {
	s := llm.Stop{Reason: llm.StopOther, Native: reason, Explanation: message}
	switch reason {
	case "STOP":
		s.Reason = llm.StopEnd
	case "MAX_TOKENS":
		s.Reason = llm.StopMaxTokens
	case "SAFETY", "BLOCKLIST", "SPII", "PROHIBITED_CONTENT", "RECITATION", "IMAGE_SAFETY",
		"IMAGE_PROHIBITED_CONTENT":
		s.Reason, s.Category = llm.StopRefusal, strings.ToLower(reason)
	}
	return s
}

// usage counts cached tokens separately, and thoughts as output, since they are charged as such.
func usage(u *metadata) llm.Usage {
	return llm.Usage{
		Input: max(0, u.Prompt+u.Tools-u.Cached), CacheRead: u.Cached,
		Output: u.Answer + u.Thought, Reasoning: u.Thought,
	}
}
