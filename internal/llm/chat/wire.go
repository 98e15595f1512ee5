package chat

import (
	"cmp"
	"encoding/json"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
)

// A wireMessage is a message in the server's form.
type wireMessage struct {
	Content          any               `json:"content,omitempty"` // a string or pieces
	Calls            []wireCall        `json:"tool_calls,omitempty"`
	CallID           string            `json:"tool_call_id,omitempty"`
	Role             string            `json:"role"`
	Reasoning        string            `json:"reasoning,omitempty"`
	ReasoningContent *string           `json:"reasoning_content,omitempty"`
	Details          []json.RawMessage `json:"reasoning_details,omitempty"`
}

// A piece is one part of a content list.
type piece struct {
	File     *wireFile  `json:"file,omitempty"`
	Image    *wireImage `json:"image_url,omitempty"`
	Text     string     `json:"text,omitempty"`
	Thinking []piece    `json:"thinking,omitempty"`
	Closed   bool       `json:"closed,omitempty"`
	Type     string     `json:"type"`
	Cache    *wireCache `json:"cache_control,omitempty"`
}

type wireFile struct {
	Data string `json:"file_data"` // a data URL
	Name string `json:"filename"`
}

type wireImage struct {
	URL string `json:"url"`
}

type wireCache struct {
	TTL  string `json:"ttl,omitempty"`
	Type string `json:"type"`
}

type wireCall struct {
	ID       string       `json:"id"`
	Function wireFunction `json:"function"`
	Type     string       `json:"type"`
}

type wireFunction struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

// A wireTool is a function, or one of the server's own tools with its parameters.
type wireTool struct {
	Function   *wireDeclaration `json:"function,omitempty"`
	Parameters json.RawMessage  `json:"parameters,omitempty"`
	Type       string           `json:"type"`
}

type wireDeclaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict,omitempty"`
}

// wire returns the message in the server's form.
func (m *message) wire() wireMessage {
	w := wireMessage{Role: m.role, CallID: m.id, Calls: m.calls, Details: m.details}
	switch text, plain := m.plain(); {
	case !plain:
		w.Content = m.pieces()
	case text != "" || len(m.calls) == 0:
		w.Content = text
	}
	switch m.form {
	case thoughtsReasoning:
		w.Reasoning = m.thoughts
	case thoughtsContent:
		if m.thoughts != "" || m.bare {
			w.ReasoningContent = &m.thoughts
		}
	}
	return w
}

// pieces returns the content as a list, after the thoughts if these are part of it.
func (m *message) pieces() []piece {
	var list []piece
	if m.form == thoughtsPiece && m.thoughts != "" {
		list = append(list, piece{
			Type: "thinking", Thinking: []piece{{Type: "text", Text: m.thoughts}}, Closed: true,
		})
	}
	list = append(list, lists.Map(m.content, content.wire)...)
	return list
}

func (c content) wire() piece {
	switch {
	case c.image != "":
		return piece{Type: "image_url", Image: &wireImage{c.image}}
	case c.url != "":
		return piece{Type: "file", File: &wireFile{Data: c.url, Name: c.file}}
	}
	return piece{Type: "text", Text: c.text, Cache: c.mark}
}

// A chunk is one event of an answer.
type chunk struct {
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Usage   *wireUsage      `json:"usage"`
	Choices []wireChoice    `json:"choices"`
	Cited   json.RawMessage `json:"citations"` // for the complete answer
}

type wireChoice struct {
	Index  int             `json:"index"`
	Delta  wireDelta       `json:"delta"`
	Finish string          `json:"finish_reason"`
	Native string          `json:"native_finish_reason"` // of the server behind OpenRouter
	Error  json.RawMessage `json:"error"`
}

type wireDelta struct {
	Content          json.RawMessage `json:"content"` // a string or pieces
	Refusal          string          `json:"refusal"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Details          json.RawMessage `json:"reasoning_details"`
	Annotations      json.RawMessage `json:"annotations"`
	Images           json.RawMessage `json:"images"`
	Calls            []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// A wireUsage is the usage of an answer. DeepSeek has its own member for cached tokens.
type wireUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Hit        int64 `json:"prompt_cache_hit_tokens"`
	PromptOf   struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionOf struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// usage counts cached tokens separately.
func (u wireUsage) usage(model string) llm.Usage {
	cached, written := u.PromptOf.Cached, u.PromptOf.Written
	cached = cmp.Or(cached, u.Hit)
	return llm.Usage{
		Input:     max(0, u.Prompt-cached-written),
		CacheRead: cached, CacheWrite: written, Output: u.Completion,
		Reasoning: u.CompletionOf.Reasoning, Model: model,
	}
}
