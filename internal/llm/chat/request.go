package chat

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// A builder builds a request in the server's form.
type builder struct {
	model    *Model
	request  *llm.Request
	names    *llm.Names
	messages []*message
	pieces   llm.Pieces[content]
	// unsigned leaves out everything that was signed, after the provider refused a signature.
	unsigned bool
	body     llm.Body
}

// build returns the body.
func (b *builder) build() ([]byte, error) {
	d := b.model.dialect
	b.body = llm.Body{"model": b.model.name, "stream": true}
	b.pieces = llm.Pieces[content]{Text: textContent, File: b.file}
	if err := b.schema(); err != nil {
		return nil, err
	}
	b.system()
	if err := b.converse(); err != nil {
		return nil, err
	}
	b.caching()
	messages := lists.Map(b.messages, func(m *message) wireMessage { return m.wire() })
	b.body["messages"] = messages
	if err := b.tools(); err != nil {
		return nil, err
	}
	b.body.Sample(b.request.Params, "max_tokens")
	if d.format != "" {
		b.body["reasoning_format"] = d.format
	}
	if d.reason != nil {
		d.reason(b, b.request.Params.Reasoning)
	}
	if !d.noUsage {
		b.body["stream_options"] = map[string]bool{"include_usage": true}
	}
	return b.body.Encode(b.request.Params)
}

func textContent(s string) content { return content{text: s} }

func (b *builder) tools() error {
	services := b.request.Params.Services
	var tools []wireTool
	if search := b.model.dialect.search; search != "" && services.Searches() {
		tools = append(tools, wireTool{Type: search, Parameters: options(services.WebSearch)})
	}
	for _, t := range b.request.Tools {
		schema := json.RawMessage(llm.NoParameters)
		if t.Schema != nil {
			var err error
			if schema, err = llm.Object(t.Schema); err != nil {
				return fmt.Errorf("tool %q: %w", t.Name, err)
			}
		}
		tools = append(tools, wireTool{Type: "function", Function: &wireDeclaration{
			Name: b.names.Wire(t.Name), Description: t.Description, Parameters: schema,
			Strict: services.Holds(t.Schema, false),
		}})
	}
	if len(tools) == 0 {
		return nil
	}
	b.body["tools"] = tools
	named := map[string]string{"name": b.names.Wire(b.request.Choice.Name)}
	b.body.Choose(b.request.Choice, map[string]any{"type": "function", "function": named},
		cmp.Or(b.model.dialect.required, "required"))
	return nil
}

// options returns the parameters of a server's tool, nil if there are none.
func options(o jsontext.Value) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(o, &members) != nil || len(members) == 0 {
		return nil
	}
	return json.RawMessage(o)
}

// schemaDirective asks for a schema on servers that support only "an object". It follows the user's
// text; in the system prompt it would change the prompt for this answer.
const schemaDirective = "Answer with nothing but a JSON object that follows this JSON Schema:\n"

func (b *builder) schema() error {
	if b.request.Schema == nil {
		return nil
	}
	if b.model.dialect.objects {
		b.body["response_format"] = map[string]string{"type": "json_object"}
		return nil
	}
	schema, err := llm.Object(b.request.Schema)
	if err != nil {
		return err
	}
	form := map[string]any{"name": "structured_output", "schema": schema}
	if llm.Strict(b.request.Schema) {
		form["strict"] = true
	}
	b.body["response_format"] = map[string]any{"type": "json_schema", "json_schema": form}
	return nil
}

// system adds one message with a part for each section.
func (b *builder) system() {
	m := &message{role: "system"}
	for _, s := range b.request.System {
		if s.Text != "" {
			c := content{text: s.Text}
			if s.Breakpoint {
				c.mark = b.mark()
			}
			m.content = append(m.content, c)
		}
	}
	if len(m.content) > 0 {
		b.messages = append(b.messages, m)
	}
}
