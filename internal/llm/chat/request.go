package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

// A builder makes a request in the server's form from a neutral one.
type builder struct {
	model    *Model
	request  *llm.Request
	names    *llm.Names
	messages []*message
	first    int            // index of the next document
	extra    map[string]any // members that the library does not know
	params   sdk.ChatCompletionNewParams
}

// set sets a member that the library does not know, or knows otherwise.
func (b *builder) set(name string, value any) {
	if b.extra == nil {
		b.extra = map[string]any{}
	}
	b.extra[name] = value
}

func (b *builder) build() (sdk.ChatCompletionNewParams, error) {
	d := b.model.dialect
	b.params.Model = b.model.name
	if err := b.schema(); err != nil {
		return b.params, err
	}
	b.system()
	if err := b.converse(); err != nil {
		return b.params, err
	}
	b.caching()
	for _, m := range b.messages {
		b.params.Messages = append(b.params.Messages, m.param())
	}
	if err := b.tools(); err != nil {
		return b.params, err
	}
	b.choice()
	b.sample()
	if d.reason != nil {
		d.reason(b, b.request.Params.Reasoning)
	}
	if !d.noUsage {
		b.params.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	for name, value := range b.request.Params.Other {
		b.set(name, json.RawMessage(value))
	}
	if len(b.extra) > 0 {
		b.params.SetExtraFields(b.extra)
	}
	return b.params, nil
}

func (b *builder) tools() error {
	for _, t := range b.request.Tools {
		schema := map[string]any{"type": "object", "properties": map[string]any{}}
		if t.Schema != nil {
			var err error
			if schema, err = object(t.Schema); err != nil {
				return fmt.Errorf("tool %q: %w", t.Name, err)
			}
		}
		f := shared.FunctionDefinitionParam{Name: b.names.Wire(t.Name), Parameters: schema}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		b.params.Tools = append(b.params.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	return nil
}

// object returns a schema as the library wants it. Its members keep their bytes: the order of
// properties is the order in which a model fills them.
func object(schema []byte) (map[string]any, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(schema, &members); err != nil || members == nil {
		return nil, fmt.Errorf("read schema: not an object: %w", err)
	}
	out := make(map[string]any, len(members))
	for name, raw := range members {
		out[name] = raw
	}
	return out, nil
}

func (b *builder) choice() {
	c, p := b.request.Choice, &b.params
	if len(p.Tools) == 0 {
		return
	}
	word := "auto"
	switch c.Mode {
	case llm.ChoiceTool:
		p.ToolChoice = sdk.ToolChoiceOptionFunctionToolChoice(
			sdk.ChatCompletionNamedToolChoiceFunctionParam{Name: b.names.Wire(c.Name)})
	case llm.ChoiceRequired:
		if word = "required"; b.model.dialect.required != "" {
			word = b.model.dialect.required
		}
	case llm.ChoiceNone:
		word = "none"
	}
	if c.Mode != llm.ChoiceTool {
		p.ToolChoice.OfAuto = param.NewOpt(word)
	}
	if c.Single {
		p.ParallelToolCalls = param.NewOpt(false)
	}
}

func (b *builder) sample() {
	p := b.request.Params
	if p.MaxTokens > 0 {
		b.params.MaxTokens = param.NewOpt(int64(p.MaxTokens))
	}
	if p.Temperature != nil {
		b.params.Temperature = param.NewOpt(*p.Temperature)
	}
	if p.TopP != nil {
		b.params.TopP = param.NewOpt(*p.TopP)
	}
	if p.TopK != nil {
		b.set("top_k", *p.TopK)
	}
	if len(p.Stop) > 0 {
		b.params.Stop.OfStringArray = p.Stop
	}
}

// schemaDirective asks for a schema where only "an object" can be asked for.
const schemaDirective = "Answer with nothing but a JSON object that follows this JSON Schema:\n"

func (b *builder) schema() error {
	if b.request.Schema == nil {
		return nil
	}
	if b.model.dialect.objects {
		b.params.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
		return nil
	}
	schema, err := object(b.request.Schema)
	if err != nil {
		return err
	}
	b.params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "structured_output", Schema: schema,
		},
	}
	return nil
}

// system is one message with a part a section.
func (b *builder) system() {
	m := &message{role: "system"}
	for _, s := range b.request.System {
		if s.Text != "" {
			m.content = append(m.content, content{text: s.Text, mark: s.Breakpoint})
		}
	}
	if b.request.Schema != nil && b.model.dialect.objects {
		m.content = append(m.content, content{text: schemaDirective + string(b.request.Schema)})
	}
	if len(m.content) > 0 {
		b.messages = append(b.messages, m)
	}
}

// maxMarks is how many cache breakpoints one request may have.
const maxMarks = 4

// caching keeps the breakpoints that count: OpenRouter hands them on to models that cache
// where they are told to. The end of the system prompt is one always.
func (b *builder) caching() {
	vendor, _, _ := strings.Cut(b.model.name, "/")
	takes := b.model.dialect.details && (vendor == "anthropic" || vendor == "google")
	var marked []*content
	for _, m := range b.messages {
		for i := range m.content {
			c := &m.content[i]
			if m.role == "system" && i == len(m.content)-1 {
				c.mark = true
			}
			if c.mark {
				marked = append(marked, c)
			}
			c.mark = false
		}
	}
	if !takes || b.request.Cache.Off {
		return
	}
	ttl := "5m"
	if b.request.Cache.TTL >= 30*time.Minute {
		ttl = "1h"
	}
	for _, c := range marked[max(0, len(marked)-maxMarks):] {
		c.mark, c.ttl = true, ttl
	}
}
