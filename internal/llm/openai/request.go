package openai

import (
	"encoding/json"

	"github.com/git-jp/git-jp/internal/llm"
)

// A builder builds a request in the provider's form.
type builder struct {
	model   *Model
	request *llm.Request
	names   *llm.Names
	items   []*wireItem
	marks   []*piece        // positions of the breakpoints, in order
	ids     map[string]bool // of items that are in the request
	pieces  llm.Pieces[piece]
	// unsigned leaves out everything that was signed, after the provider refused a signature.
	unsigned bool
	body     llm.Body
}

// build returns the body.
func (b *builder) build() ([]byte, error) {
	b.body = llm.Body{"model": b.model.name, "store": false, "stream": true}
	b.pieces = llm.Pieces[piece]{Text: inputText, File: b.file}
	b.system()
	if err := b.messages(); err != nil {
		return nil, err
	}
	b.cache()
	b.body["input"] = b.items
	if err := b.tools(); err != nil {
		return nil, err
	}
	b.reason()
	b.sample()
	if err := b.schema(); err != nil {
		return nil, err
	}
	if context := b.request.Params.Services.Context; context.Kind() == '[' {
		// https://developers.openai.com/api/docs/guides/compaction
		b.body["context_management"] = json.RawMessage(context)
	}
	return b.body.Encode(b.request.Params)
}

// system adds one message with a part for each section.
func (b *builder) system() {
	list := make([]piece, 0, len(b.request.System)) // marks point into it
	for _, s := range b.request.System {
		if s.Text == "" {
			continue
		}
		list = append(list, inputText(s.Text))
		if s.Breakpoint {
			b.marks = append(b.marks, &list[len(list)-1])
		}
	}
	if len(list) > 0 {
		b.say("system", list)
	}
}

func (b *builder) tools() error {
	services := b.request.Params.Services
	var tools []any
	if services.Searches() {
		// https://developers.openai.com/api/docs/guides/tools-web-search
		search, err := services.SearchTool(map[string]any{"type": "web_search"})
		if err != nil {
			return err
		}
		tools = append(tools, search)
	}
	for _, t := range b.request.Tools {
		schema, strict, err := toolSchema(t)
		if err != nil {
			return err
		}
		tools = append(tools, wireTool{
			Type: "function", Name: b.names.Wire(t.Name), Description: t.Description,
			Parameters: schema, Strict: services.Holds(strict, true),
		})
	}
	if len(tools) == 0 {
		return nil
	}
	b.body["tools"] = tools
	named := map[string]string{"type": "function", "name": b.names.Wire(b.request.Choice.Name)}
	b.body.Choose(b.request.Choice, named, "required")
	return nil
}

// reason sets how much the model reasons. Unless reasoning is off, it requests the encrypted form,
// which can be sent back.
func (b *builder) reason() {
	t, r := b.model.trait, b.request.Params.Reasoning
	if !t.reasons {
		return
	}
	var p wireReasoning
	switch r.Mode {
	case llm.ReasoningOff:
		p.Effort = t.off
	case llm.ReasoningEffort:
		p.Effort = t.nearest(r.Effort)
	case llm.ReasoningBudget:
		p.Effort = t.off
		if r.Budget > 0 {
			p.Effort = t.nearest(r.Level())
		}
	}
	if !r.Exclude {
		p.Summary = "auto"
	}
	if r.Mode != llm.ReasoningOff {
		b.body["include"] = []string{"reasoning.encrypted_content"}
		if t.breakpoints {
			p.Context = "all_turns"
		}
	}
	if p != (wireReasoning{}) {
		b.body["reasoning"] = p
	}
}

func (b *builder) sample() {
	p := llm.Params{MaxTokens: b.request.Params.MaxTokens}
	if !b.model.trait.reasons { // else the provider refuses both
		p.Temperature, p.TopP = b.request.Params.Temperature, b.request.Params.TopP
	}
	b.body.Sample(p, "max_output_tokens")
}

func (b *builder) schema() error {
	if b.request.Schema == nil {
		return nil
	}
	schema, err := llm.Object(b.request.Schema)
	if err != nil {
		return err
	}
	b.body["text"] = map[string]any{"format": map[string]any{
		"type": "json_schema", "name": "structured_output", "description": "Structured output",
		"schema": schema, "strict": llm.Strict(b.request.Schema),
	}}
	return nil
}

// maxMarks is how many cache entries one request may write.
const maxMarks = 4

// cache sets the last breakpoints: what precedes them is cached already.
func (b *builder) cache() {
	newer := b.model.trait.breakpoints
	if b.request.Cache.Off {
		if newer {
			b.body["prompt_cache_options"] = breakpoint{Mode: "explicit"}
		}
		return
	}
	if b.request.Session != "" {
		b.body["prompt_cache_key"] = b.request.Session
	}
	if !newer {
		return
	}
	for _, at := range b.marks[max(0, len(b.marks)-maxMarks):] {
		at.Breakpoint = &breakpoint{Mode: "explicit"}
	}
}
