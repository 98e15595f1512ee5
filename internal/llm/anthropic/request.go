package anthropic

import (
	"encoding/json"
	"time"

	"github.com/git-jp/git-jp/internal/llm/wire"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/git-jp/git-jp/internal/llm"
)

// forceDirective stands in for a forced tool where the provider does not let one be forced.
// The words are jp's.
const forceDirective = "IMPORTANT: You MUST use AT LEAST ONE tool available to you. " +
	"DO NOT QUESTION THIS DIRECTIVE. DO NOT PROMPT FOR MORE CONTEXT OR DETAILS. JUST RUN IT."

// continueDirective follows an answer that the conversation ends with: newer models do not
// continue what they find half said.
const continueDirective = "Please continue from where you left off."

// A built is a request in the provider's form.
type built struct {
	params  sdk.MessageNewParams
	options []option.RequestOption
}

// A builder makes one from a neutral request.
type builder struct {
	model    string // id
	name     string
	trait    trait
	request  *llm.Request
	messages []llm.Message
	names    *llm.Names
	// unsigned sends all thinking as text: the provider refused a signature.
	unsigned bool
	// insisted is how often the model did not make the call that it was asked for.
	insisted int
	// paused says that the provider goes on in its own last message.
	paused bool
	// asked says that a tool can only be asked for in words.
	asked bool
}

func (b *builder) build() (*built, error) {
	r := b.request
	b.messages = llm.UniqueIDs(b.messages, wire.WordRule(64))
	messages, err := b.turns()
	if err != nil {
		return nil, err
	}
	p := sdk.MessageNewParams{
		Model: b.name, MaxTokens: int64(b.maxTokens()), Messages: messages,
		StopSequences: r.Params.Stop, System: b.system(),
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
		p.OutputConfig.Format = param.Override[sdk.JSONOutputFormatParam](json.RawMessage(
			`{"type":"json_schema","schema":` + string(schema) + `}`))
	}
	b.cache(&p)
	return &built{params: p, options: b.others()}, nil
}

// others are the parameters that only this provider has, and the one that the library sets by
// the method that is called.
func (b *builder) others() []option.RequestOption {
	opts := []option.RequestOption{option.WithJSONSet("stream", true)}
	if context := b.request.Params.Services.Context; context.Kind() == '{' {
		opts = append(opts, option.WithJSONSet("context_management", json.RawMessage(context)))
		for _, beta := range betasOf(context) {
			opts = append(opts, option.WithHeaderAdd("anthropic-beta", beta))
		}
	}
	for name, value := range b.request.Params.Extra() {
		opts = append(opts, option.WithJSONSet(name, json.RawMessage(value)))
	}
	return opts
}

func (b *builder) maxTokens() int {
	if n := b.request.Params.MaxTokens; n > 0 {
		return n
	}
	return b.trait.output
}

func (b *builder) system() []sdk.TextBlockParam {
	var blocks []sdk.TextBlockParam
	for _, s := range b.request.System {
		if s.Text != "" {
			blocks = append(blocks, sdk.TextBlockParam{Text: s.Text})
		}
	}
	return blocks
}

// searchTool is the name of the provider's own search of the web.
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
const searchTool = "web_search"

// tools are the provider's own before those that can have a breakpoint.
func (b *builder) tools() ([]sdk.ToolUnionParam, error) {
	var tools []sdk.ToolUnionParam
	services := b.request.Params.Services
	if services.Searches() {
		raw, err := services.SearchTool(map[string]any{
			"type": "web_search_20250305", "name": searchTool,
		})
		if err != nil {
			return nil, err
		}
		search := param.Override[sdk.ToolParam](raw)
		tools = append(tools, sdk.ToolUnionParam{OfTool: &search})
	}
	for _, t := range b.request.Tools {
		tool := &sdk.ToolParam{
			Name: b.names.Wire(t.Name), Type: sdk.ToolTypeCustom,
			InputSchema: param.Override[sdk.ToolInputSchemaParam](inputSchema(t)),
		}
		if t.Description != "" {
			tool.Description = sdk.String(t.Description)
		}
		if services.Holds(t.Schema, false) && enforceable(t.Schema) {
			tool.Strict = sdk.Bool(true)
		}
		tools = append(tools, sdk.ToolUnionParam{OfTool: tool})
	}
	return tools, nil
}

func inputSchema(t llm.Tool) json.RawMessage {
	if t.Schema == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return json.RawMessage(t.Schema)
}

// choice says which tools are to be called. To force one is refused while the model thinks:
// then it is asked in words.
func (b *builder) choice(p *sdk.MessageNewParams) sdk.ToolChoiceUnionParam {
	if len(p.Tools) == 0 {
		return sdk.ToolChoiceUnionParam{}
	}
	c := b.request.Choice
	single := sdk.Bool(c.Single)
	forced := c.Mode == llm.ChoiceRequired || c.Mode == llm.ChoiceTool
	switch {
	case c.Mode == llm.ChoiceNone:
		return sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	case forced && (thinks(p) || b.trait.alwaysThinks):
		directive := forceDirective
		if c.Mode == llm.ChoiceTool {
			directive += " Use the tool " + b.names.Wire(c.Name) + "."
		}
		p.System = append(p.System, sdk.TextBlockParam{Text: directive})
		b.asked = true
	case c.Mode == llm.ChoiceRequired, forced && len(p.Tools) == 1:
		return sdk.ToolChoiceUnionParam{
			OfAny: &sdk.ToolChoiceAnyParam{DisableParallelToolUse: single},
		}
	case forced:
		return sdk.ToolChoiceUnionParam{OfTool: &sdk.ToolChoiceToolParam{
			Name: b.names.Wire(c.Name), DisableParallelToolUse: single,
		}}
	}
	auto := &sdk.ToolChoiceAutoParam{DisableParallelToolUse: single}
	return sdk.ToolChoiceUnionParam{OfAuto: auto}
}

// thinks reports whether the model thinks in this request. A newer model does so unless it is
// told not to.
func thinks(p *sdk.MessageNewParams) bool {
	return p.Thinking.OfEnabled != nil || p.Thinking.OfAdaptive != nil
}

// sample sets temperature and its like, where they are not refused: by the newest models, and
// by all while they think.
func (b *builder) sample(p *sdk.MessageNewParams) {
	given := b.request.Params
	if b.trait.noSampling || thinks(p) {
		return
	}
	if given.Temperature != nil {
		p.Temperature = sdk.Float(*given.Temperature)
	} else if given.TopP != nil { // newer models refuse both at once
		p.TopP = sdk.Float(*given.TopP)
	}
	if given.TopK != nil {
		p.TopK = sdk.Int(int64(*given.TopK))
	}
}

// lifetime is how long entries of the cache live: the provider has five minutes and an hour.
func lifetime(c llm.CachePolicy) sdk.CacheControlEphemeralTTL {
	if c.TTL >= 30*time.Minute {
		return sdk.CacheControlEphemeralTTLTTL1h
	}
	return sdk.CacheControlEphemeralTTLTTL5m
}
