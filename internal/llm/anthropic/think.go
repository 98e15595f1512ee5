package anthropic

import (
	"cmp"
	"slices"

	"github.com/git-jp/git-jp/internal/llm"
)

// minBudget is the smallest budget that the provider accepts for thinking.
const minBudget = 1024

// notThinking is the type of thinking that turns it off.
const notThinking = "disabled"

// think sets how much the model thinks.
func (b *builder) think(p *body) {
	r := b.request.Params.Reasoning
	off := r.Off() || b.insisted > 0 && !b.trait.alwaysThinks
	budget := b.trait.think == thinksByBudget ||
		b.trait.think == thinksByBoth && r.Mode == llm.ReasoningBudget
	switch {
	case r.Mode == llm.ReasoningDefault || b.trait.think == thinksNever:
		return
	case b.trait.alwaysThinks && off:
		p.Output.Effort = llm.EffortLow
	case off || budget && !cycleThinks(p.Messages):
		p.Thinking = thinkingConfig{Type: notThinking}
	case budget:
		b.thinkByBudget(p)
	default:
		b.thinkAdaptively(p)
	}
}

func (b *builder) thinkByBudget(p *body) {
	budget := min(b.budget(), p.MaxTokens-1)
	if budget < minBudget {
		p.Thinking = thinkingConfig{Type: notThinking}
		return
	}
	p.Thinking = thinkingConfig{Type: "enabled", Budget: budget, Display: b.display()}
}

// budget returns the number of tokens for an effort: jp's share of the longest answer.
func (b *builder) budget() int {
	r := b.request.Params.Reasoning
	if r.Mode == llm.ReasoningBudget {
		return max(minBudget, r.Budget)
	}
	percent := map[llm.Effort]int{
		llm.EffortXLow: 10, llm.EffortLow: 20, llm.EffortMedium: 50,
		llm.EffortHigh: 80, llm.EffortXHigh: 90, llm.EffortMax: 95,
	}[r.Effort]
	percent = cmp.Or(percent, 50)
	return max(minBudget, b.maxTokens()*percent/100)
}

func (b *builder) thinkAdaptively(p *body) {
	p.Thinking = thinkingConfig{Type: "adaptive", Display: b.display()}
	p.Output.Effort = b.effort()
}

// display returns whether the provider shows the thinking.
func (b *builder) display() string {
	if b.request.Params.Reasoning.Exclude {
		return "omitted"
	}
	return "summarized"
}

// effort returns the provider's name of an effort, "" to leave it to the model.
func (b *builder) effort() llm.Effort {
	r := b.request.Params.Reasoning
	effort := r.Effort
	if r.Mode == llm.ReasoningBudget {
		effort = effortOf(r.Budget, b.trait.output)
	}
	switch {
	case r.Mode == llm.ReasoningAuto:
		return ""
	case effort == llm.EffortXLow:
		return llm.EffortLow
	case effort == llm.EffortXHigh && b.trait.efforts != "xhigh":
		return llm.EffortMax
	default:
		return effort
	}
}

// effortOf converts a budget to an effort, for models without budgets.
func effortOf(budget, output int) llm.Effort {
	switch percent := budget * 100 / max(1, output); {
	case percent <= 25:
		return llm.EffortLow
	case percent <= 60:
		return llm.EffortMedium
	case percent <= 85:
		return llm.EffortHigh
	default:
		return llm.EffortMax
	}
}

// cycleThinks reports whether the calls of the open cycle begin with thinking that is sent back:
// models with a budget refuse to continue thinking after calls that were made without. A user's
// message without a result closes the cycle. It checks the wire messages, in which neighbours are
// merged and empty messages are left out.
func cycleThinks(messages []message) bool {
	isResult := func(x block) bool { return x.Type == kindResult }
	isCall := func(x block) bool { return x.Type == kindCall }
	for _, m := range slices.Backward(messages) {
		switch {
		case m.Role != llm.RoleUser:
			if slices.ContainsFunc(m.Content, isCall) && !thought(m.Content[0]) {
				return false
			}
		case !slices.ContainsFunc(m.Content, isResult):
			return true
		}
	}
	return true
}

// signed reports whether thinking can be sent back with its signature.
func (b *builder) signed(m llm.Message, r llm.Reasoning) bool {
	if b.unsigned || !llm.Own(m, b.model) || m.Model != "" && family(m.Model) != family(b.model) {
		return false
	}
	_, signature := llm.Proof(r.Metadata, llm.MetadataAnthropicSignature)
	_, redacted := llm.Proof(r.Metadata, llm.MetadataAnthropicRedacted)
	return signature || redacted
}
