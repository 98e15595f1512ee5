package jpconfig

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A Section is a part of the system prompt.
type Section struct {
	Tag      string `json:"tag"`
	Title    string `json:"title"`
	Content  string `json:"content"`
	Position int    `json:"position"`
}

// instructions are a Section that jp writes itself.
type instructions struct {
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Position    int               `json:"position"`
	Items       []string          `json:"items"`
	Examples    []json.RawMessage `json:"examples"`
}

// System returns the parts of the system prompt in order: the prompt, then sections and
// instructions by their position.
func (c *Config) System() []string {
	var parts []string
	if prompt := c.text("assistant", "system_prompt"); prompt != "" {
		parts = append(parts, prompt)
	}
	for _, s := range c.Sections() {
		parts = append(parts, s.render())
	}
	return parts
}

// Sections returns the sections of the system prompt in order, instructions among them.
func (c *Config) Sections() []Section {
	var sections []Section
	for _, item := range c.items("assistant", "system_prompt_sections") {
		var s Section
		if json.Unmarshal(item, &s.Content) == nil || json.Unmarshal(item, &s) == nil {
			sections = append(sections, s)
		}
	}
	for _, item := range c.items("assistant", "instructions") {
		var in instructions
		if json.Unmarshal(item, &in.Title) == nil || json.Unmarshal(item, &in) == nil {
			sections = append(sections, in.section())
		}
	}
	slices.SortStableFunc(sections, func(a, b Section) int {
		return cmp.Compare(a.Position, b.Position)
	})
	return sections
}

// items returns the elements of a list.
func (c *Config) items(path ...string) []json.RawMessage {
	s, ok := c.all.Setting(path...)
	if !ok {
		return nil
	}
	var all []json.RawMessage
	for _, item := range s.Items() {
		all = append(all, json.RawMessage(item.Value()))
	}
	return all
}

// render writes a section as jp does.
func (s Section) render() string {
	content := strings.TrimSpace(s.Content)
	switch {
	case s.Tag != "":
		tag := strings.ReplaceAll(s.Tag, " ", "_")
		open := tag
		if s.Title != "" {
			open += ` title="` + attribute(s.Title) + `"`
		}
		return "<" + open + ">\n" + characters(content) + "\n</" + tag + ">"
	case s.Title != "":
		return "# " + s.Title + "\n\n" + content
	default:
		return content
	}
}

// section writes instructions as the content of a section.
func (in instructions) section() Section {
	var b strings.Builder
	if in.Description != "" {
		b.WriteString(strings.TrimSpace(in.Description) + "\n\n")
	}
	for _, item := range in.Items {
		b.WriteString("- " + strings.TrimSpace(item) + "\n")
	}
	for _, raw := range in.Examples {
		b.WriteString(example(raw))
	}
	return Section{
		Tag: "instruction", Title: in.Title, Content: b.String(), Position: in.Position,
	}
}

// example writes an example: text, or what is good and what is bad.
func example(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return "\nExample: " + strings.TrimSpace(text) + "\n"
	}
	var contrast struct{ Good, Bad, Reason string }
	if json.Unmarshal(raw, &contrast) != nil {
		return ""
	}
	s := "\nGood: " + strings.TrimSpace(contrast.Good) + "\nBad: " +
		strings.TrimSpace(contrast.Bad) + "\n"
	if contrast.Reason != "" {
		s += "Reason: " + strings.TrimSpace(contrast.Reason) + "\n"
	}
	return s
}

// characters writes text between tags, as a CDATA section where it has markup.
func characters(s string) string {
	if !strings.ContainsAny(s, "<>&") {
		return s
	}
	return "<![CDATA[" + strings.ReplaceAll(s, "]]>", "]]]]><![CDATA[>") + "]]>"
}

func attribute(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(s)
}
