package gemini

import (
	"encoding/json"
	"fmt"

	"github.com/git-jp/git-jp/internal/llm"
)

// A builder builds a request in the provider's form.
type builder struct {
	model    *Model
	request  *llm.Request
	names    *llm.Names
	contents []content
	pieces   llm.Pieces[part]
	// unsigned leaves out everything that was signed, after the provider refused a signature.
	unsigned bool
}

// A generation has the parameters of an answer, on the wire.
type generation struct {
	MaxTokens   int             `json:"maxOutputTokens,omitempty"`
	MIME        string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
	Stop        []string        `json:"stopSequences,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Thinking    *thinkingConfig `json:"thinkingConfig,omitempty"`
	TopK        *int            `json:"topK,omitempty"`
	TopP        *float64        `json:"topP,omitempty"`
}

// A declaration is a tool on the wire.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// A calling restricts which tools are called, on the wire.
type calling struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames,omitempty"`
}

// build returns the body. Its members are in the order of their names.
func (b *builder) build() ([]byte, error) {
	r := b.request
	b.pieces = llm.Pieces[part]{Text: textPart, File: b.file}
	if err := b.converse(); err != nil {
		return nil, err
	}
	body := llm.Body{"contents": b.contents}
	if parts := b.system(); len(parts) > 0 {
		body["systemInstruction"] = map[string]any{"parts": parts}
	}
	// Models before Gemini 3 refuse a schema together with tools; tools that may not be called
	// anyway are left out.
	switch calls := len(r.Tools) > 0 && (r.Schema == nil || r.Choice.Mode != llm.ChoiceNone); {
	case calls:
		body["tools"] = []any{map[string]any{"functionDeclarations": b.tools()}}
		body["toolConfig"] = map[string]any{"functionCallingConfig": b.calling()}
	case r.Params.Services.Searches() && r.Schema == nil:
		// https://ai.google.dev/gemini-api/docs/google-search: not with functions.
		search := json.RawMessage(r.Params.Services.WebSearch)
		body["tools"] = []any{map[string]any{"googleSearch": search}}
	}
	g := b.generation()
	raw, err := json.Marshal(g)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	if string(raw) != "{}" {
		body["generationConfig"] = g
	}
	return body.Encode(r.Params)
}

func (b *builder) generation() generation {
	p := b.request.Params
	g := generation{
		MaxTokens: p.MaxTokens, Stop: p.Stop, Temperature: p.Temperature, TopP: p.TopP,
		TopK: p.TopK, Thinking: b.model.trait.thinking(p.Reasoning),
	}
	if b.request.Schema != nil {
		g.MIME, g.Schema = "application/json", json.RawMessage(b.request.Schema)
	}
	return g
}

func (b *builder) system() []part {
	var parts []part
	for _, s := range b.request.System {
		if s.Text != "" {
			parts = append(parts, textPart(s.Text))
		}
	}
	return parts
}

func (b *builder) tools() []declaration {
	tools := make([]declaration, len(b.request.Tools))
	for i, t := range b.request.Tools {
		tools[i] = declaration{
			Name: b.names.Wire(t.Name), Description: t.Description,
			Parameters: json.RawMessage(t.Schema),
		}
	}
	return tools
}

func (b *builder) calling() calling {
	c := b.request.Choice
	switch c.Mode {
	case llm.ChoiceNone:
		return calling{Mode: "NONE"}
	case llm.ChoiceRequired:
		return calling{Mode: "ANY"}
	case llm.ChoiceTool:
		return calling{Mode: "ANY", Allowed: []string{b.names.Wire(c.Name)}}
	default:
		return calling{Mode: "VALIDATED"}
	}
}
