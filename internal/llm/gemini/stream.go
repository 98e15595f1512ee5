package gemini

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"google.golang.org/genai"
)

// A reader makes deltas of the provider's chunks.
type reader struct {
	model     *Model
	names     *llm.Names
	assembler *llm.Assembler
	calls     int
	usage     *llm.Usage
	stop      *llm.Stop
	quiet     bool // nobody listens any more, and nothing is told
}

// A chunk is one piece of an answer. What it says is read as it stands on the wire.
type chunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []part `json:"parts"`
		} `json:"content"`
		FinishReason  genai.FinishReason `json:"finishReason"`
		FinishMessage string             `json:"finishMessage"`
	} `json:"candidates"`
	Usage      *genai.GenerateContentResponseUsageMetadata  `json:"usageMetadata"`
	Feedback   *genai.GenerateContentResponsePromptFeedback `json:"promptFeedback"`
	Model      string                                       `json:"modelVersion"`
	ResponseID string                                       `json:"responseId"`
	Error      *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	} `json:"error"`
}

func newReader(
	m *Model, r *llm.Request, names *llm.Names, yield func(llm.Delta, error) bool,
) *reader {
	out := &reader{model: m, names: names}
	out.assembler = llm.NewAssembler(r, func(d llm.Delta) bool {
		out.quiet = out.quiet || !yield(d, nil)
		return !out.quiet
	})
	return out
}

// read reads the answer to its end. It returns nil when nobody listens any more.
func (r *reader) read(body io.Reader) error {
	for ev, err := range llm.ReadSSE(body, 0) {
		if err != nil && r.stop != nil {
			break // it was done, and only the connection ended badly
		}
		if err != nil {
			return r.broken(err)
		}
		last, err := r.chunk(ev.Data)
		if r.quiet {
			return nil
		}
		if err != nil {
			return err
		}
		if last {
			break
		}
	}
	if r.stop == nil {
		return &llm.CutError{Provider: r.model.at.Provider}
	}
	r.end()
	return nil
}

func (r *reader) end() {
	if r.calls > 0 && r.stop.Reason == llm.StopEnd {
		r.stop.Reason = llm.StopTools
	}
	r.assembler.EndSaid()
	if r.usage != nil {
		r.assembler.Usage(*r.usage)
	}
	r.assembler.Stop(*r.stop)
}

func (r *reader) broken(err error) error {
	var cut *llm.CutError
	if errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &cut) {
		return &llm.CutError{Provider: r.model.at.Provider, Err: err}
	}
	return err
}

// chunk reads one chunk. It is the last when it tells why the answer ends and what it has cost;
// the connection may stay open after it.
func (r *reader) chunk(data []byte) (last bool, err error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, &llm.WireError{Provider: r.model.at.Provider, Err: err}
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
		r.usage = &u
	}
	if f := c.Feedback; f != nil && f.BlockReason != "" {
		r.stop = &llm.Stop{
			Reason: llm.StopRefusal, Native: string(f.BlockReason),
			Category: strings.ToLower(string(f.BlockReason)), Explanation: f.BlockReasonMessage,
		}
	}
	for _, candidate := range c.Candidates {
		if candidate.Index != 0 {
			continue // one answer was asked for
		}
		for _, p := range candidate.Content.Parts {
			r.part(p, c.ResponseID)
		}
		if candidate.FinishReason != "" {
			s := stop(candidate.FinishReason, candidate.FinishMessage)
			r.stop = &s
		}
	}
	return r.stop != nil && c.Usage != nil, nil
}

// part reads one part. Text is continued from chunk to chunk until a signature ends it.
func (r *reader) part(p part, response string) {
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
	}
}

// call reads a call, which comes whole. Its id is the provider's or is made of the answer's.
func (r *reader) call(p part, response string) {
	key := r.calls
	r.calls++
	id := p.Call.ID
	if id == "" {
		id = first(response, "call") + "_" + strconv.Itoa(key)
	}
	r.assembler.Start(key, llm.PartCall, id, r.names.Tool(p.Call.Name))
	if args := string(p.Call.Args); args != "null" {
		r.assembler.Append(key, args)
	}
	if p.Signature != "" {
		r.assembler.Note(key, llm.MetadataGoogleSignature, p.Signature)
	}
	r.assembler.End(key)
}

func stop(reason genai.FinishReason, message string) llm.Stop {
	s := llm.Stop{Reason: llm.StopOther, Native: string(reason), Explanation: message}
	switch reason {
	case genai.FinishReasonStop:
		s.Reason = llm.StopEnd
	case genai.FinishReasonMaxTokens:
		s.Reason = llm.StopMaxTokens
	case genai.FinishReasonSafety, genai.FinishReasonBlocklist, genai.FinishReasonSPII,
		genai.FinishReasonProhibitedContent, genai.FinishReasonRecitation,
		genai.FinishReasonImageSafety, genai.FinishReasonImageProhibitedContent:
		s.Reason, s.Category = llm.StopRefusal, strings.ToLower(string(reason))
	}
	return s
}

// usage counts what came from a cache apart, and thoughts as output: they are paid as such.
func usage(u *genai.GenerateContentResponseUsageMetadata) llm.Usage {
	cached := int64(u.CachedContentTokenCount)
	prompt := int64(u.PromptTokenCount) + int64(u.ToolUsePromptTokenCount)
	return llm.Usage{
		Input: max(0, prompt-cached), CacheRead: cached,
		Output:    int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount),
		Reasoning: int64(u.ThoughtsTokenCount),
	}
}
