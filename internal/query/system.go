package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A section is one of assistant.system_prompt_sections.
type section struct {
	Content  string `json:"content"`
	Tag      string `json:"tag"`
	Title    string `json:"title"`
	Position int    `json:"position"`
}

// An instruction is one of assistant.instructions.
type instruction struct {
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Position    int      `json:"position"`
	Items       []string `json:"items"`
	Examples    []any    `json:"examples"`
}

// system returns the sections of the system prompt: the prompt itself, and then the sections
// and instructions by their position.
func system(c Config) []string {
	var prompt string
	var sections []section
	var instructions []instruction
	c.Decode(&prompt, "assistant", "system_prompt")
	c.Decode(&sections, "assistant", "system_prompt_sections")
	c.Decode(&instructions, "assistant", "instructions")
	type placed struct {
		at   int
		text string
	}
	var all []placed
	for _, s := range sections {
		all = append(all, placed{s.Position, s.text()})
	}
	for _, i := range instructions {
		all = append(all, placed{i.Position, i.text()})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	var texts []string
	if prompt = strings.TrimSpace(prompt); prompt != "" {
		texts = append(texts, prompt)
	}
	for _, p := range all {
		if p.text != "" {
			texts = append(texts, p.text)
		}
	}
	return texts
}

// text renders a section as jp does: an element of its tag, or below its title.
func (s section) text() string {
	content := strings.TrimSpace(s.Content)
	switch {
	case content == "":
		return ""
	case s.Tag != "":
		return element(s.Tag, s.Title, "\n"+guarded(content)+"\n")
	case s.Title != "":
		return "# " + s.Title + "\n\n" + content
	default:
		return content
	}
}

func (i instruction) text() string {
	var b strings.Builder
	if i.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", guarded(i.Description))
	}
	if len(i.Items) > 0 {
		b.WriteByte('\n')
	}
	for _, item := range i.Items {
		fmt.Fprintf(&b, "- %s\n", guarded(item))
	}
	for _, e := range i.Examples {
		b.WriteString(example(e))
	}
	if b.Len() == 0 {
		return ""
	}
	return element("instruction", i.Title, b.String())
}

// example renders an example, which is a text or an object with good, bad and reason.
func example(e any) string {
	switch e := e.(type) {
	case string:
		return "\n" + element("example", "", "\n"+guarded(e)+"\n") + "\n"
	case map[string]any:
		var b strings.Builder
		for _, key := range []string{"good", "bad", "reason"} {
			if text, ok := e[key].(string); ok && text != "" {
				fmt.Fprintf(&b, "\n%s", element(key, "", guarded(text)))
			}
		}
		return "\n" + element("example", "", b.String()+"\n") + "\n"
	default:
		return ""
	}
}

func element(tag, title, inner string) string {
	if title != "" {
		title = fmt.Sprintf(" title=%q", title)
	}
	return fmt.Sprintf("<%s%s>%s</%s>", tag, title, inner, tag)
}

// guarded wraps a text that would read as markup.
func guarded(text string) string {
	if !strings.ContainsAny(text, "<>&") {
		return text
	}
	return "<![CDATA[" + strings.ReplaceAll(text, "]]>", "]]]]><![CDATA[>") + "]]>"
}
