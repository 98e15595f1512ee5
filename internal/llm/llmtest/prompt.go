package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/llm/wire"
)

// A Prompt is the part of a request that a provider's cache counts, in its order: a later request
// reads its prefix from the cache. Cache breakpoints are left out, and a text is the same alone, in
// a list, or before another text of the same role.
type Prompt struct {
	// Lead is the prefix of every request of a conversation: tools, system prompt, and other
	// members that the provider counts with them.
	Lead string
	// Said is the conversation.
	Said string
}

// PromptOf reads a request in a provider's format.
func PromptOf(f wire.Format, body []byte) (Prompt, error) {
	r := Decoded(body)
	if r == nil {
		return Prompt{}, fmt.Errorf("a request is no object: %s", body)
	}
	var p prompter
	member := "messages"
	p.lead("tools", r["tools"])
	switch f {
	case wire.FormatAnthropic:
		p.lead("system", r["system"])
		config, _ := r["output_config"].(map[string]any)
		p.lead("format", config["format"])
		// Thinking and the choice of tools count before the first message.
		p.lead("thinking", r["thinking"])
		p.lead("tool_choice", r["tool_choice"])
	case wire.FormatResponses:
		member = "input"
		text, _ := r["text"].(map[string]any)
		p.lead("format", text["format"])
	case wire.FormatGemini:
		member = "contents"
		p.lead("system", r["systemInstruction"])
	}
	items, ok := r[member].([]any)
	if !ok || len(items) == 0 {
		return Prompt{}, fmt.Errorf("a request has no %s: %s", member, body)
	}
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return Prompt{}, fmt.Errorf("a message is no object: %s", body)
		}
		p.message(m)
	}
	return Prompt{p.head.String(), p.said.String()}, nil
}

// Continues returns an error with the difference if a request does not begin with all of an earlier
// one.
func (p Prompt) Continues(earlier Prompt) error {
	if p.Lead != earlier.Lead {
		return differ("what a request begins with", earlier.Lead, p.Lead)
	}
	rest, ok := strings.CutPrefix(p.Said, earlier.Said)
	if !ok || rest != "" && rest[0] != '\n' {
		return differ("what was said", earlier.Said, p.Said)
	}
	return nil
}

// differ shows two texts around their first difference.
func differ(what, was, is string) error {
	const before, after = 200, 300
	n := 0
	for n < min(len(was), len(is)) && was[n] == is[n] {
		n++
	}
	cut := func(s string) string { return s[max(0, n-before):min(len(s), n+after)] }
	return fmt.Errorf("%s differs from byte %d on: was\n…%s…\nis\n…%s…", what, n, cut(was), cut(is))
}

type prompter struct {
	head, said strings.Builder
	role       string
}

func (p *prompter) lead(name string, v any) {
	if v != nil {
		fmt.Fprintf(&p.head, "\n%s %s", name, plain(v))
	}
}

// message adds one message. Neighbours of one role are merged.
func (p *prompter) message(m map[string]any) {
	into := &p.said
	role := fmt.Sprint(m["role"], " ", m["tool_call_id"], " ", m["tool_name"])
	if m["role"] == "system" && p.role == "" {
		into = &p.head
	} else if role != p.role || m["role"] == nil {
		p.role = role
		into.WriteString("\n[" + role + "]")
	}
	for _, name := range []string{"content", "parts"} {
		p.content(into, m[name])
		delete(m, name)
	}
	for _, name := range []string{"role", "tool_call_id", "tool_name"} {
		delete(m, name)
	}
	if m["type"] == "message" {
		delete(m, "type")
	}
	if len(m) > 0 {
		into.WriteString("\n" + plain(m))
	}
}

// content adds the texts of a content, and pieces of other kinds as JSON.
func (p *prompter) content(into *strings.Builder, v any) {
	pieces, ok := v.([]any)
	if !ok && v != nil && v != "" {
		pieces = []any{v}
	}
	for _, piece := range pieces {
		if m, ok := piece.(map[string]any); ok {
			if text, ok := textAlone(m); ok {
				piece = text
			}
		}
		text, ok := piece.(string)
		if !ok {
			text = plain(piece)
		}
		into.WriteString("\n\n" + text)
	}
}

// textAlone returns the text of a piece that has nothing else.
func textAlone(m map[string]any) (string, bool) {
	text, ok := m["text"].(string)
	for name := range m {
		ok = ok && (name == "text" || name == "type" || slices.Contains(marks, name))
	}
	return text, ok
}

// marks are the members for cache breakpoints.
var marks = []string{"cache_control", "prompt_cache_breakpoint"}

// plain returns JSON without cache breakpoints.
func plain(v any) string {
	data, err := json.Marshal(unmarked(v))
	if err != nil {
		return fmt.Sprint(v) // cannot fail for decoded JSON
	}
	return string(data)
}

func unmarked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range marks {
			delete(v, name)
		}
		for name, member := range v {
			v[name] = unmarked(member)
		}
	case []any:
		for i, member := range v {
			v[i] = unmarked(member)
		}
	}
	return v
}
