package openai

import (
	"encoding/json"
	"slices"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// A builder makes a request in the provider's form from a neutral one.
type builder struct {
	model   *Model
	request *llm.Request
	names   *llm.Names
	items   responses.ResponseInputParam
	marks   []func()        // each sets one cache breakpoint, in order
	ids     map[string]bool // of items that are in the request
	pieces  llm.Pieces[responses.ResponseInputContentUnionParam]
	// unsigned gives nothing back that was signed: the provider refused that.
	unsigned bool
	params   responses.ResponseNewParams
}

func (b *builder) build() (responses.ResponseNewParams, error) {
	b.pieces.Text, b.pieces.File = inputText, b.file
	b.system()
	if err := b.messages(); err != nil {
		return b.params, err
	}
	tools, err := b.tools()
	if err != nil {
		return b.params, err
	}
	b.params.Model = b.model.name
	b.params.Store = param.NewOpt(false)
	b.params.Tools = tools
	b.choice()
	b.reason()
	b.sample()
	if err := b.schema(); err != nil {
		return b.params, err
	}
	b.cache()
	b.params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: b.items}
	b.others()
	return b.params, nil
}

// system is one message with a part a section.
func (b *builder) system() {
	var list responses.ResponseInputMessageContentListParam
	for _, s := range b.request.System {
		if s.Text == "" {
			continue
		}
		list = append(list, inputText(s.Text))
		if s.Breakpoint {
			b.mark(&list[len(list)-1])
		}
	}
	if len(list) > 0 {
		b.say(responses.EasyInputMessageRoleSystem, list)
	}
}

func (b *builder) tools() ([]responses.ToolUnionParam, error) {
	var tools []responses.ToolUnionParam
	for _, t := range b.request.Tools {
		schema, strict, err := toolSchema(t)
		if err != nil {
			return nil, err
		}
		f := &responses.FunctionToolParam{
			Name: b.names.Wire(t.Name), Parameters: schema, Strict: param.NewOpt(strict),
		}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		tools = append(tools, responses.ToolUnionParam{OfFunction: f})
	}
	return tools, nil
}

func (b *builder) choice() {
	if len(b.request.Tools) == 0 {
		return
	}
	c, p := b.request.Choice, &b.params
	switch c.Mode {
	case llm.ChoiceTool:
		p.ToolChoice.OfFunctionTool = &responses.ToolChoiceFunctionParam{Name: b.names.Wire(c.Name)}
	case llm.ChoiceRequired:
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptionsRequired)
	case llm.ChoiceNone:
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptionsNone)
	default:
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptionsAuto)
	}
	if c.Single {
		p.ParallelToolCalls = param.NewOpt(false)
	}
}

// reason says how much to think. What was thought is asked for in the form that can be given
// back, unless nothing is to be thought.
func (b *builder) reason() {
	t, r := b.model.trait, b.request.Params.Reasoning
	if !t.reasons {
		return
	}
	p := shared.ReasoningParam{}
	switch r.Mode {
	case llm.ReasoningOff:
		p.Effort = t.off
	case llm.ReasoningEffort:
		p.Effort = t.effort(r.Effort)
	case llm.ReasoningBudget:
		p.Effort = t.budget(r.Budget)
	}
	if !r.Exclude {
		p.Summary = shared.ReasoningSummaryAuto
	}
	if off := r.Mode == llm.ReasoningOff; !off {
		b.params.Include = []responses.ResponseIncludable{
			responses.ResponseIncludableReasoningEncryptedContent,
		}
		if t.breakpoints {
			p.Context = shared.ReasoningContextAllTurns
		}
	}
	b.params.Reasoning = p
}

func (b *builder) sample() {
	p := b.request.Params
	if p.MaxTokens > 0 {
		b.params.MaxOutputTokens = param.NewOpt(int64(p.MaxTokens))
	}
	if b.model.trait.reasons {
		return // the provider refuses both
	}
	if p.Temperature != nil {
		b.params.Temperature = param.NewOpt(*p.Temperature)
	}
	if p.TopP != nil {
		b.params.TopP = param.NewOpt(*p.TopP)
	}
}

func (b *builder) schema() error {
	if b.request.Schema == nil {
		return nil
	}
	schema, err := object(b.request.Schema)
	if err != nil {
		return err
	}
	b.params.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{
		Name: "structured_output", Description: param.NewOpt("Structured output"),
		Schema: schema, Strict: param.NewOpt(strict(b.request.Schema)),
	}
	return nil
}

// maxMarks is how many cache entries one request may write.
const maxMarks = 4

// mark remembers that the prompt is to be cached up to the end of this content.
func (b *builder) mark(c *responses.ResponseInputContentUnionParam) {
	b.marks = append(b.marks, func() {
		switch {
		case c.OfInputText != nil:
			p := responses.NewResponseInputTextPromptCacheBreakpointParam()
			c.OfInputText.PromptCacheBreakpoint = p
		case c.OfInputImage != nil:
			p := responses.NewResponseInputImagePromptCacheBreakpointParam()
			c.OfInputImage.PromptCacheBreakpoint = p
		case c.OfInputFile != nil:
			p := responses.NewResponseInputFilePromptCacheBreakpointParam()
			c.OfInputFile.PromptCacheBreakpoint = p
		}
	})
}

// cache sets the last breakpoints, for what comes before them is an entry already.
func (b *builder) cache() {
	newer := b.model.trait.breakpoints
	if b.request.Cache.Off {
		if newer {
			b.params.PromptCacheOptions.Mode = "explicit"
		}
		return
	}
	if b.request.Session != "" {
		b.params.PromptCacheKey = param.NewOpt(b.request.Session)
	}
	if !newer {
		return
	}
	for _, set := range b.marks[max(0, len(b.marks)-maxMarks):] {
		set()
	}
}

// others are the parameters that only this provider has.
func (b *builder) others() {
	extra := map[string]any{}
	for name, value := range b.request.Params.Extra() {
		extra[name] = json.RawMessage(slices.Clone(value))
	}
	if len(extra) > 0 {
		b.params.SetExtraFields(extra)
	}
}
