package gemini

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/git-jp/git-jp/internal/llm"
	"google.golang.org/genai"
)

// A builder makes a request in the provider's form from a neutral one: settings in the
// library's types, and beside them what goes into the body as it is.
type builder struct {
	model    *Model
	request  *llm.Request
	names    *llm.Names
	contents []content
	first    int // index of the next document
	config   *genai.GenerateContentConfig
	tools    []declaration
}

// A declaration is a tool on the wire.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

func (b *builder) build() error {
	r := b.request
	never := false
	b.config = &genai.GenerateContentConfig{
		StopSequences: r.Params.Stop, ThinkingConfig: b.model.trait.thinking(r.Params.Reasoning),
		AutomaticContinuation: &never,
	}
	if err := b.converse(); err != nil {
		return err
	}
	b.system()
	b.sample()
	// A schema and tools together are refused by models before Gemini 3; tools that may not be
	// called are not missed.
	if r.Schema == nil || r.Choice.Mode != llm.ChoiceNone {
		if err := b.declare(); err != nil {
			return err
		}
	}
	if r.Schema != nil {
		b.config.ResponseMIMEType = "application/json"
	}
	b.config.HTTPOptions = &genai.HTTPOptions{ExtrasRequestProvider: b.complete}
	return nil
}

// complete puts what the library may not touch into the body that it has made.
func (b *builder) complete(body map[string]any) map[string]any {
	body["contents"] = b.contents
	if len(b.tools) > 0 {
		body["tools"] = []any{map[string]any{"functionDeclarations": b.tools}}
	}
	if b.request.Schema != nil {
		config, _ := body["generationConfig"].(map[string]any)
		if config == nil {
			config = map[string]any{}
		}
		config["responseJsonSchema"] = json.RawMessage(b.request.Schema)
		body["generationConfig"] = config
	}
	for name, value := range b.request.Params.Other {
		body[name] = json.RawMessage(value)
	}
	return body
}

func (b *builder) system() {
	var parts []*genai.Part
	for _, s := range b.request.System {
		if s.Text != "" {
			parts = append(parts, genai.NewPartFromText(s.Text))
		}
	}
	if len(parts) > 0 {
		b.config.SystemInstruction = &genai.Content{Parts: parts}
	}
}

func (b *builder) sample() {
	p, c := b.request.Params, b.config
	c.MaxOutputTokens = int32(min(p.MaxTokens, math.MaxInt32))
	if p.Temperature != nil {
		c.Temperature = genai.Ptr(float32(*p.Temperature))
	}
	if p.TopP != nil {
		c.TopP = genai.Ptr(float32(*p.TopP))
	}
	if p.TopK != nil {
		c.TopK = genai.Ptr(float32(*p.TopK))
	}
}

// declare names the tools and says whether they are to be called.
func (b *builder) declare() error {
	for _, t := range b.request.Tools {
		d := declaration{
			Name: b.names.Wire(t.Name), Description: t.Description,
			Parameters: json.RawMessage(slices.Clone(t.Schema)),
		}
		if t.Schema != nil && !json.Valid(t.Schema) {
			return fmt.Errorf("tool %q: read schema: not valid", t.Name)
		}
		b.tools = append(b.tools, d)
	}
	if len(b.tools) == 0 {
		return nil
	}
	calling := &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeValidated}
	switch b.request.Choice.Mode {
	case llm.ChoiceNone:
		calling.Mode = genai.FunctionCallingConfigModeNone
	case llm.ChoiceRequired:
		calling.Mode = genai.FunctionCallingConfigModeAny
	case llm.ChoiceTool:
		calling.Mode = genai.FunctionCallingConfigModeAny
		calling.AllowedFunctionNames = []string{b.names.Wire(b.request.Choice.Name)}
	}
	b.config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: calling}
	return nil
}
