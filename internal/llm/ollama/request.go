package ollama

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/go-json-experiment/json/jsontext"
)

type body struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Tools    []tool          `json:"tools,omitempty"`
	Format   json.RawMessage `json:"format,omitempty"`
	Options  map[string]any  `json:"options,omitempty"`
	Stream   bool            `json:"stream"`
	// Truncate and Shift, if false, make the server refuse a conversation that is too long, and end
	// an answer that fills the window, instead of dropping the beginning.
	Truncate bool `json:"truncate"`
	Shift    bool `json:"shift"`

	Think any            `json:"think,omitempty"`
	Keep  jsontext.Value `json:"keep_alive,omitempty"`
}

type message struct {
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Thinking string   `json:"thinking,omitempty"`
	Images   []string `json:"images,omitempty"`
	Calls    []call   `json:"tool_calls,omitempty"`
	ToolName string   `json:"tool_name,omitempty"`
	CallID   string   `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// A builder builds the body of a request.
type builder struct {
	model   *Model
	request *llm.Request
	names   *llm.Names
	// plain leaves thinking to the model, which refused the setting.
	plain bool
	// larger asks for a larger window than was estimated, since the server refused that.
	larger    bool
	documents int // number so far
}

func (b *builder) build() ([]byte, error) {
	b.documents = 0
	w := body{Model: b.model.name, Stream: true, Format: json.RawMessage(b.request.Schema)}
	messages, err := b.messages()
	if err != nil {
		return nil, err
	}
	w.Messages, w.Tools = messages, b.tools()
	if !b.plain {
		w.Think = b.think()
	}
	w.Options, w.Keep = b.options()
	b.fit(&w)
	return llm.Encode(w)
}

func (b *builder) messages() ([]message, error) {
	var out []message
	var system []string
	for _, s := range b.request.System {
		if s.Text != "" {
			system = append(system, s.Text)
		}
	}
	if len(system) > 0 {
		out = append(out, message{Role: "system", Content: strings.Join(system, "\n\n")})
	}
	for i, m := range llm.UniqueIDs(b.request.Messages, wire.WordRule(64)) {
		var err error
		if m.Role == llm.RoleAssistant {
			out = b.assistant(out, m)
		} else if out, err = b.user(out, m, i == len(b.request.Messages)-1); err != nil {
			return nil, err
		}
	}
	if d := b.directive(); d != "" {
		out = append(out, message{Role: "system", Content: d})
	}
	return out, nil
}

// directive asks for a tool call in words, since the format has no tool choice. The wording is
// jp's.
func (b *builder) directive() string {
	const rest = " available to you. DO NOT QUESTION THIS DIRECTIVE. DO NOT PROMPT FOR MORE " +
		"CONTEXT OR DETAILS. JUST RUN IT."
	switch c := b.request.Choice; {
	case len(b.request.Tools) == 0:
		return ""
	case c.Mode == llm.ChoiceRequired:
		return "IMPORTANT: You MUST use AT LEAST ONE tool" + rest
	case c.Mode == llm.ChoiceTool:
		return "IMPORTANT: You MUST use the function named '" + b.names.Wire(c.Name) + "'" + rest
	default:
		return ""
	}
}

// assistant adds a message of the assistant: thinking, text and calls of one reply in one message,
// as the templates of models expect.
func (b *builder) assistant(out []message, m llm.Message) []message {
	if n := len(out); n == 0 || out[n-1].Role != "assistant" {
		out = append(out, message{Role: "assistant"})
	}
	into := &out[len(out)-1]
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Reasoning:
			into.Thinking = joined(into.Thinking, p.Text)
		case llm.Text:
			into.Content = joined(into.Content, p.Text)
		case llm.Data:
			into.Content = joined(into.Content, string(p.Value))
		case llm.Call:
			into.Calls = append(into.Calls, b.call(p))
		}
	}
	if strings.TrimSpace(into.Content+into.Thinking) == "" && len(into.Calls) == 0 {
		return out[:len(out)-1]
	}
	return out
}

func joined(a, b string) string {
	if strings.TrimSpace(a) == "" || strings.TrimSpace(b) == "" {
		return a + b
	}
	return a + "\n\n" + b
}

func (b *builder) call(p llm.Call) call {
	c := call{ID: p.ID}
	c.Function.Name = b.names.Wire(p.Name)
	c.Function.Arguments = p.Arguments()
	return c
}

// user adds a message of the user: results first, each in a message of its own, then the rest.
func (b *builder) user(out []message, m llm.Message, last bool) ([]message, error) {
	said := message{Role: "user"}
	var resources []llm.Resource
	var texts []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Result:
			out = append(out, b.result(p))
		case llm.Text:
			texts = append(texts, p.Text)
		case llm.Resource, llm.Media:
			if r, ok := p.(llm.Resource); ok && r.Bytes == nil {
				resources = append(resources, r)
				continue
			}
			label, err := b.file(&said, llm.FileOf(p), last)
			if err != nil {
				return nil, err
			}
			texts = append(texts, label)
		}
	}
	said.Content = llm.Documents(resources, b.documents)
	b.documents += len(resources)
	for _, text := range texts {
		said.Content = joined(said.Content, text)
	}
	if strings.TrimSpace(said.Content) == "" && len(said.Images) == 0 {
		return out, nil
	}
	return append(out, said), nil
}

// file adds a file that is not text, and returns the text about it. An unsupported file is an error
// in the last message, and a placeholder in an earlier one.
func (b *builder) file(into *message, f llm.File, last bool) (string, error) {
	switch {
	case llm.IsImage(f.MIME):
		into.Images = append(into.Images, base64.StdEncoding.EncodeToString(f.Bytes))
		return f.Label(), nil
	case last:
		return "", &llm.UnsupportedError{Model: b.model.ID(), What: f.MIME, Name: f.Name}
	default:
		part := llm.Resource{URI: f.Name, MIME: f.MIME, Bytes: f.Bytes}
		return llm.Result{Parts: []llm.Part{part}}.Plain(), nil
	}
}

func (b *builder) result(r llm.Result) message {
	m := message{
		Role: "tool", Content: r.Plain(), ToolName: b.names.Wire(r.Name), CallID: r.CallID,
	}
	for _, p := range r.Parts {
		if f := llm.FileOf(p); f.Bytes != nil && llm.IsImage(f.MIME) {
			m.Images = append(m.Images, base64.StdEncoding.EncodeToString(f.Bytes))
		}
	}
	return m
}

func (b *builder) tools() []tool {
	if b.request.Choice.Mode == llm.ChoiceNone {
		return nil
	}
	tools := make([]tool, len(b.request.Tools))
	for i, t := range b.request.Tools {
		tools[i].Type = "function"
		f := &tools[i].Function
		f.Name, f.Description = b.names.Wire(t.Name), t.Description
		f.Parameters = json.RawMessage(t.Schema)
		if t.Schema == nil {
			f.Parameters = json.RawMessage(llm.NoParameters)
		}
	}
	return tools
}

// think returns whether the model thinks. Only OpenAI's models accept an effort.
func (b *builder) think() any {
	r := b.request.Params.Reasoning
	switch {
	case r.Mode == llm.ReasoningDefault:
		return nil
	case r.Off():
		return false
	case !strings.HasPrefix(b.model.name, "gpt-oss") || r.Mode != llm.ReasoningEffort:
		return true
	default:
		return r.Level()
	}
}

func (b *builder) options() (llm.Body, jsontext.Value) {
	p := b.request.Params
	options := llm.Body{}
	var keep jsontext.Value
	for name, value := range p.Extra() {
		if name == "keep_alive" {
			keep = value
			continue
		}
		options[name] = json.RawMessage(value)
	}
	options.Sample(p, "num_predict")
	return options, keep
}
