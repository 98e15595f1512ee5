package openai

import (
	"encoding/json"

	"github.com/git-jp/git-jp/internal/llm"
)

// A wireItem is one item of the input, in the provider's form. Each kind has some of the members.
type wireItem struct {
	Type      string  `json:"type"`
	ID        string  `json:"id,omitempty"`
	Role      string  `json:"role,omitempty"`
	Phase     string  `json:"phase,omitempty"`
	Status    string  `json:"status,omitempty"`
	Content   any     `json:"content,omitempty"` // a string or pieces
	Summary   []piece `json:"summary,omitzero"`  // required of reasoning, even if empty
	Encrypted string  `json:"encrypted_content,omitempty"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments string  `json:"arguments,omitempty"`
	Output    any     `json:"output,omitempty"` // a string or pieces

	opaque json.RawMessage // the complete item as received
}

// MarshalJSON implements [json.Marshaler].
func (w *wireItem) MarshalJSON() ([]byte, error) {
	type plain wireItem
	if w.opaque != nil {
		return w.opaque, nil
	}
	return llm.Encode((*plain)(w))
}

// The kinds of items.
const (
	kindMessage   = "message"
	kindReasoning = "reasoning"
	kindCall      = "function_call"
	kindResult    = "function_call_output"
)

// A piece is one part of a content, a summary or an output that is a list.
type piece struct {
	Type        string      `json:"type"`
	Text        *string     `json:"text,omitempty"` // may be empty
	Annotations []struct{}  `json:"annotations,omitzero"`
	Filename    string      `json:"filename,omitempty"`
	FileData    string      `json:"file_data,omitempty"` // a data URL
	ImageURL    string      `json:"image_url,omitempty"`
	Detail      string      `json:"detail,omitempty"`
	Breakpoint  *breakpoint `json:"prompt_cache_breakpoint,omitempty"`
}

// A breakpoint asks for a cache entry of the prompt up to the end of its piece.
type breakpoint struct {
	Mode string `json:"mode"`
}

func inputText(text string) piece { return piece{Type: "input_text", Text: &text} }

type wireTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// A wireReasoning sets how much the model reasons and what is shown of it.
type wireReasoning struct {
	Effort  effort `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
	Context string `json:"context,omitempty"`
}

// A wireOutput is an item of an answer.
type wireOutput struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Phase     string `json:"phase"`
	Encrypted string `json:"encrypted_content"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Type        string            `json:"type"`
		Text        string            `json:"text"`
		Refusal     string            `json:"refusal"`
		Annotations []json.RawMessage `json:"annotations"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// A wireResponse has the end of an answer: its status, error and usage.
type wireResponse struct {
	Model  string `json:"model"`
	Status string `json:"status"`
	Error  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *wireUsage `json:"usage"`
}

type wireUsage struct {
	Input   int64 `json:"input_tokens"`
	InputOf struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output   int64 `json:"output_tokens"`
	OutputOf struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// usage counts cached tokens separately.
func (u wireUsage) usage(model string) llm.Usage {
	cached, written := u.InputOf.Cached, u.InputOf.Written
	return llm.Usage{
		Input:     max(0, u.Input-cached-written),
		CacheRead: cached, CacheWrite: written, Output: u.Output,
		Reasoning: u.OutputOf.Reasoning, Model: model,
	}
}
