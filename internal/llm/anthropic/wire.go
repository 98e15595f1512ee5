package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// A body is a request in the provider's form.
// https://platform.claude.com/docs/en/api/messages/create
type body struct {
	Model       string          `json:"model"`
	MaxTokens   int             `json:"max_tokens"`
	Messages    []message       `json:"messages,omitempty"`
	System      []block         `json:"system,omitempty"`
	Tools       []tool          `json:"tools,omitempty"`
	ToolChoice  *toolChoice     `json:"tool_choice,omitempty"`
	Thinking    thinkingConfig  `json:"thinking,omitzero"`
	Output      outputConfig    `json:"output_config,omitzero"`
	Stop        []string        `json:"stop_sequences,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	TopK        *int            `json:"top_k,omitempty"`
	Cache       *cacheControl   `json:"cache_control,omitempty"`
	Context     json.RawMessage `json:"context_management,omitempty"`
	Stream      bool            `json:"stream"`
}

// encode encodes the body, with members that only this provider has, which override others.
func (p *body) encode(extra map[string]jsontext.Value) ([]byte, error) {
	raw, err := llm.Encode(p)
	if err != nil || len(extra) == 0 {
		return raw, err
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	for name, value := range extra {
		members[name] = json.RawMessage(value)
	}
	return llm.Encode(members)
}

type message struct {
	Content []block  `json:"content"`
	Role    llm.Role `json:"role"`
}

// A block is one piece of a message, of a result or of the system prompt. Each kind has some of the
// members, which are in the order of their names.
type block struct {
	Cache     *cacheControl   `json:"cache_control,omitempty"`
	Content   []block         `json:"content,omitempty"`
	Context   string          `json:"context,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	IsError   *bool           `json:"is_error,omitempty"`
	Name      string          `json:"name,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Source    *source         `json:"source,omitempty"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"` // may be empty
	Title     string          `json:"title,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Type      string          `json:"type"`

	opaque json.RawMessage // the complete block as received
}

// MarshalJSON implements [json.Marshaler].
func (b block) MarshalJSON() ([]byte, error) {
	type plain block
	if b.opaque != nil {
		return b.opaque, nil
	}
	return llm.Encode(plain(b))
}

// The kinds of blocks.
const (
	kindText     = "text"
	kindImage    = "image"
	kindDocument = "document"
	kindThinking = "thinking"
	kindRedacted = "redacted_thinking"
	kindCall     = "tool_use"
	kindResult   = "tool_result"
)

func textBlock(text string) block { return block{Type: kindText, Text: text} }

// takesCache reports whether a block may have a breakpoint: not thinking, and not a block of the
// provider, which is sent back unchanged.
func (b block) takesCache() bool { return b.opaque == nil && !thought(b) }

// A source has the bytes of an image or a document.
type source struct {
	Type      string  `json:"type"`
	MediaType string  `json:"media_type,omitempty"`
	Data      string  `json:"data,omitempty"`
	Content   []block `json:"content,omitempty"`
}

func base64Source(mime string, data []byte) *source {
	return &source{
		Type: "base64", MediaType: mime, Data: base64.StdEncoding.EncodeToString(data),
	}
}

type tool struct {
	Cache       *cacheControl   `json:"cache_control,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Name        string          `json:"name"`
	Strict      bool            `json:"strict,omitempty"`
	Type        string          `json:"type"`

	own json.RawMessage // the provider's own tool, with its options
}

// MarshalJSON implements [json.Marshaler].
func (t tool) MarshalJSON() ([]byte, error) {
	type plain tool
	if t.own != nil {
		return t.own, nil
	}
	return llm.Encode(plain(t))
}

type toolChoice struct {
	Type   string `json:"type"`
	Name   string `json:"name,omitempty"`
	Single *bool  `json:"disable_parallel_tool_use,omitempty"`
}

type thinkingConfig struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

type outputConfig struct {
	Effort llm.Effort      `json:"effort,omitempty"`
	Format json.RawMessage `json:"format,omitempty"`
}

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}
