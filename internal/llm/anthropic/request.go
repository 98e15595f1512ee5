package anthropic

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/git-jp/git-jp/internal/llm/wire"

	"github.com/git-jp/git-jp/internal/llm"
)

// forceDirective asks for a tool call where the provider does not allow to force one. The wording
// is jp's.
const forceDirective = "IMPORTANT: You MUST use AT LEAST ONE tool available to you. " +
	"DO NOT QUESTION THIS DIRECTIVE. DO NOT PROMPT FOR MORE CONTEXT OR DETAILS. JUST RUN IT."

// A built is a request in the provider's form.
type built struct {
	body  []byte
	betas []string // beta features that it needs
}

// A builder builds a request in the provider's form.
type builder struct {
	model    string // id
	name     string
	trait    trait
	request  *llm.Request
	messages []llm.Message
	names    *llm.Names
	// unsigned sends all thinking as text, after the provider refused a signature.
	unsigned bool
	// insisted is how often the model did not make a required call.
	insisted int
	// asked says that a tool cannot be forced, only asked for in words.
	asked bool
}

func (b *builder) build() (*built, error) {
	r := b.request
	b.messages = llm.UniqueIDs(b.messages, wire.WordRule(64))
	messages, err := b.turns()
	if err != nil {
		return nil, err
	}
	p := body{
		Model: b.name, MaxTokens: b.maxTokens(), Messages: messages,
		Stop: r.Params.Stop, System: b.system(), Stream: true,
	}
	if p.Tools, err = b.tools(); err != nil {
		return nil, err
	}
	b.think(&p)
	b.sample(&p)
	p.ToolChoice = b.choice(&p)
	if r.Schema != nil {
		schema, err := outputSchema(r.Schema)
		if err != nil {
			return nil, err
		}
		p.Output.Format = json.RawMessage(
			`{"type":"json_schema","schema":` + string(schema) + `}`)
	}
	b.cache(&p)
	out := &built{}
	if context := r.Params.Services.Context; context.Kind() == '{' {
		p.Context, out.betas = json.RawMessage(context), betasOf(context)
	}
	out.body, err = p.encode(maps.Collect(r.Params.Extra()))
	return out, err
}

func (b *builder) maxTokens() int {
	if n := b.request.Params.MaxTokens; n > 0 {
		return n
	}
	return b.trait.output
}

func (b *builder) system() []block {
	var blocks []block
	for _, s := range b.request.System {
		if s.Text != "" {
			blocks = append(blocks, textBlock(s.Text))
		}
	}
	return blocks
}

// searchTool is the name of the provider's own web search.
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
const searchTool = "web_search"

// tools returns the provider's own tools first, then those that can have a breakpoint.
func (b *builder) tools() ([]tool, error) {
	var tools []tool
	services := b.request.Params.Services
	if services.Searches() {
		raw, err := services.SearchTool(map[string]any{
			"type": "web_search_20250305", "name": searchTool,
		})
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool{own: raw})
	}
	for _, t := range b.request.Tools {
		tools = append(tools, tool{
			Type: "custom", Name: b.names.Wire(t.Name), Description: t.Description,
			InputSchema: inputSchema(t),
			Strict:      services.Holds(t.Schema, false) && enforceable(t.Schema),
		})
	}
	return tools, nil
}

func inputSchema(t llm.Tool) json.RawMessage {
	if t.Schema == nil {
		return json.RawMessage(llm.NoParameters)
	}
	return json.RawMessage(t.Schema)
}

// choice returns which tools are to be called. The provider refuses to force one while the model
// thinks: then the model is asked in words.
func (b *builder) choice(p *body) *toolChoice {
	if len(p.Tools) == 0 {
		return nil
	}
	c := b.request.Choice
	single := new(bool) // false, which jp sends too
	forced := c.Mode == llm.ChoiceRequired || c.Mode == llm.ChoiceTool
	switch {
	case c.Mode == llm.ChoiceNone:
		return &toolChoice{Type: "none"}
	case forced && (thinks(p) || b.trait.alwaysThinks):
		directive := forceDirective
		if c.Mode == llm.ChoiceTool {
			directive += " Use the tool " + b.names.Wire(c.Name) + "."
		}
		p.System = append(p.System, textBlock(directive))
		b.asked = true
	case c.Mode == llm.ChoiceRequired, forced && len(p.Tools) == 1:
		return &toolChoice{Type: "any", Single: single}
	case forced:
		return &toolChoice{Type: "tool", Name: b.names.Wire(c.Name), Single: single}
	}
	return &toolChoice{Type: "auto", Single: single}
}

// thinks reports whether the model thinks in this request. A newer model does so unless thinking is
// turned off.
func thinks(p *body) bool {
	return p.Thinking.Type != "" && p.Thinking.Type != notThinking
}

// sample sets temperature and the like, unless the model refuses them: the newest ones always do,
// all others while they think.
func (b *builder) sample(p *body) {
	given := b.request.Params
	if b.trait.noSampling || thinks(p) {
		return
	}
	if p.Temperature = given.Temperature; p.Temperature == nil {
		p.TopP = given.TopP // newer models refuse both at once
	}
	p.TopK = given.TopK
}

// lifetime returns how long cache entries live: the provider has five minutes and an hour.
func lifetime(c llm.CachePolicy) string {
	if c.TTL >= 30*time.Minute {
		return "1h"
	}
	return "5m"
}
