package chat

import (
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// assistant adds a reply of the model. Called says that its turn has tool calls.
func (b *builder) assistant(m llm.Message, called bool) {
	d := b.model.dialect
	own := llm.Own(m, b.model.ID())
	bare := called && d.wantsThoughts
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Reasoning:
			switch {
			case d.details && !b.unsigned:
				b.details(p)
			case p.Text != "" && d.replays(own, called):
				a := b.at("assistant")
				a.thoughts = join(a.thoughts, p.Text)
			}
		case llm.Text:
			b.say(p.Text)
		case llm.Data:
			b.say(string(p.Value))
		case llm.Call:
			b.call(p)
		}
	}
	if last := b.last(); bare && last != nil && last.role == "assistant" {
		last.bare = true
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}

func (b *builder) say(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	a := b.at("assistant")
	a.content = append(a.content, content{text: text})
}

// call adds a call to the reply; parallel calls are in one message.
func (b *builder) call(c llm.Call) {
	a := b.at("assistant")
	a.calls = append(a.calls, wireCall{
		ID: b.model.dialect.id(c.ID), Type: "function",
		Function: wireFunction{Name: b.names.Wire(c.Name), Arguments: llm.ArgumentsText(c)},
	})
}

// details adds OpenRouter's details, unchanged or, for reasoning from jp or directly from the
// vendor, in the form that they would have. Reasoning without a proof is dropped.
func (b *builder) details(r llm.Reasoning) {
	if kept := restore(r); len(kept) > 0 {
		a := b.at("assistant")
		a.details = append(a.details, kept...)
	}
}
