package wire

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Format is a wire format that [Check] has rules for.
type Format string

// The formats, named after the adapter packages.
const (
	FormatAnthropic Format = "anthropic" // Messages
	FormatResponses Format = "openai"    // OpenAI Responses
	FormatChat      Format = "chat"      // chat completions, and compatible servers
	FormatGemini    Format = "gemini"    // generateContent
	FormatOllama    Format = "ollama"    // /api/chat
)

// A Violation is one broken rule of a provider.
type Violation struct {
	Rule   string // such as "G1", see [Check]
	Path   string // the place in the body, such as "messages[3].content[0]"
	Detail string
}

// String returns the rule, the place and the detail.
func (v Violation) String() string {
	return fmt.Sprintf("%s at %s: %s", v.Rule, v.Path, v.Detail)
}

// Check checks a body, in the form in which it is sent, by the rules of its format. The model is
// the provider's name for it, "" to read it from the body. The rules are:
//
//	all        G0  the body is a JSON object with messages
//	           G1  each call has exactly one result, each result a call before it
//	           G3  results come directly after the message with the calls, before other text
//	           G4  the first message is the user's, the last the user's, a tool's or a server's
//	               paused work
//	           G5  no message and no text is empty; ids of calls are present and unique
//	           G7  tools have unique names, and they and calls names that the provider accepts; a
//	               choice names one of the tools
//	Anthropic  A1  roles alternate
//	           A2  results come first in their message; ids are at most 64 letters, digits, _, -
//	           A3  thinking has its signature, and no message ends with it
//	           A4  thinking with a budget: messages with calls in the current cycle start with it
//	           A6  a server's tool use has its result
//	           A7  roles are user and assistant, and system only for newer models
//	           A8  at most four breakpoints, none on thinking, longer lifetimes first
//	           A9  a budget below the limit; no forced tool and no temperature while thinking
//	Responses  R2  reasoning is followed by the items that it produced
//	           R3  ids have their prefix and are unique
//	           R4  unstored, reasoning has its encrypted content; no previous response
//	Chat       C1  arguments are a JSON object in a string; a tool message names its call
//	           C2  Mistral: no user's message directly after a tool's
//	           C3  at least one user's message
//	           C4  DeepSeek: reasoning is sent back in turns with calls, and only there
//	           C5  at most four breakpoints, including the automatic one
//	Gemini     E1  roles are user and model; calls do not come first
//	           E2  as many responses as calls, in the next turn, alone, in order, by name and id
//	           E4  Gemini 3: the first call of each step of the current turn has a signature
//	Ollama     O1  the conversation fits the window that is asked for
//	           O5  images are present where the text is not; arguments are objects
//
// Rules with the missing numbers cannot be checked in one body: a cycle of which only one half was
// dropped is reported as G1, and other tests check that successive requests have the same bytes.
func Check(f Format, model string, wire []byte) []Violation {
	var body object
	if err := json.Unmarshal(wire, &body); err != nil || body == nil {
		return []Violation{{Rule: "G0", Path: "$", Detail: "it is not a JSON object"}}
	}
	if model == "" {
		model = body.text("model")
	}
	c := &checker{model: model, body: body, names: 64}
	switch f {
	case FormatAnthropic:
		c.names = 128
		c.anthropic()
	case FormatResponses:
		c.responses()
	case FormatChat:
		c.chat()
	case FormatGemini:
		c.gemini()
	case FormatOllama:
		c.names = 128
		c.ollama()
	default:
		c.add("G0", "$", "unknown format %q", f)
	}
	return c.found
}

// A checker collects violations.
type checker struct {
	model  string
	body   object
	found  []Violation
	paused bool // the last message is the assistant's, and continues
	names  int  // longest name of a tool
}

func (c *checker) add(rule, path, format string, args ...any) {
	c.found = append(c.found, Violation{rule, path, fmt.Sprintf(format, args...)})
}

// An object is a JSON object. Members that are missing or of another type read as empty.
type object map[string]any

func (o object) text(key string) string {
	s, _ := o[key].(string)
	return s
}

func (o object) object(key string) object {
	m, _ := o[key].(map[string]any)
	return m
}

func (o object) number(key string) (float64, bool) {
	f, ok := o[key].(float64)
	return f, ok
}

func (o object) objects(key string) []object {
	list, _ := o[key].([]any)
	out := make([]object, len(list))
	for i, v := range list {
		m, _ := v.(map[string]any)
		out[i] = m
	}
	return out
}

// A turn is one message in the terms that all formats share.
type turn struct {
	path           string
	role           string // system, user, assistant or tool
	calls, results []mention
	text           bool // it has text beside calls and results
	empty          bool // it has no content at all
}

// A mention is a call or a result.
type mention struct {
	path, id string
	name     string // of the called tool
}

// conversation checks the rules that all providers share.
func (c *checker) conversation(turns []turn) {
	turns = slices.DeleteFunc(slices.Clone(turns), func(t turn) bool { return t.role == "system" })
	if len(turns) == 0 {
		c.add("G0", "$", "there are no messages")
		return
	}
	if first := turns[0]; first.role != "user" {
		c.add("G4", first.path, "the %s speaks first", first.role)
	}
	if last := turns[len(turns)-1]; last.role == "assistant" && !c.paused {
		c.add("G4", last.path, "the assistant speaks last")
	}
	p := pairs{c: c, seen: map[string]bool{}}
	for _, t := range turns {
		if t.empty {
			c.add("G5", t.path, "the message is empty")
		}
		p.turn(t)
	}
	p.unanswered("G1")
}

// pairs matches calls with their results.
type pairs struct {
	c    *checker
	seen map[string]bool
	open []mention
}

func (p *pairs) turn(t turn) {
	for _, r := range t.results {
		p.result(r)
	}
	switch {
	case len(p.open) == 0:
	case t.role == "assistant":
		p.unanswered("G1")
	case t.text:
		p.c.add("G3", t.path, "text stands before the result of call %q", p.open[0].id)
	}
	for _, call := range t.calls {
		switch {
		case call.id == "":
			p.c.add("G5", call.path, "the call has no id")
		case p.seen[call.id]:
			p.c.add("G5", call.path, "the id %q is used twice", call.id)
		}
		p.c.named(call.path, call.name)
		p.seen[call.id] = true
		p.open = append(p.open, call)
	}
}

func (p *pairs) result(r mention) {
	i := slices.IndexFunc(p.open, func(m mention) bool { return m.id == r.id })
	switch {
	case i >= 0:
		p.open = slices.Delete(p.open, i, i+1)
	case p.seen[r.id]:
		p.c.add("G1", r.path, "the call %q has another result", r.id)
	default:
		p.c.add("G1", r.path, "the result %q has no call before it", r.id)
	}
}

func (p *pairs) unanswered(rule string) {
	for _, m := range p.open {
		p.c.add(rule, m.path, "the call %q has no result", m.id)
	}
	p.open = nil
}

// named checks the name of a tool that is offered or called.
func (c *checker) named(path, name string) {
	if name == "" || WordRule(c.names).Clean(name) != name {
		c.add("G7", path, "the provider takes no tool %q", name)
	}
}

// tools checks the names of tools, and that a choice names one of them.
func (c *checker) tools(names []string, chosen string) {
	seen := map[string]bool{}
	for i, name := range names {
		at := fmt.Sprintf("tools[%d]", i)
		c.named(at, name)
		if seen[name] {
			c.add("G7", at, "there are two tools %q", name)
		}
		seen[name] = true
	}
	if chosen != "" && !seen[chosen] {
		c.add("G7", "tool_choice", "there is no tool %q", chosen)
	}
}
