package jpconfig

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
)

// A Section is a part of the system prompt.
type Section struct {
	Tag      string `json:"tag"`
	Title    string `json:"title"`
	Content  string `json:"content"`
	Position int    `json:"position"`
}

// instructions are a section in structured form, which jp formats itself.
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
	if prompt := strings.TrimSpace(c.text("assistant", "system_prompt")); prompt != "" {
		parts = append(parts, prompt)
	}
	for _, s := range c.Sections() {
		if text := s.render(); text != "" { // providers refuse empty text
			parts = append(parts, text)
		}
	}
	return parts
}

// ForeignWords lists foreign text in the system prompt: keys, each with a position.
func (c *Config) ForeignWords() (all []string) {
	for _, key := range []string{"system_prompt", "system_prompt_sections", "instructions"} {
		path := []string{"assistant", key}
		_, origins, _ := c.Value(path...)
		for _, o := range origins {
			word := strings.Join(path, ".") + " (" + o.At(path...) + ")"
			if o.Foreign && !c.has(path...) && !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	return all
}

// Sections returns the sections of the system prompt in order, including instructions.
func (c *Config) Sections() []Section {
	var sections []Section
	for _, item := range c.items("assistant", "system_prompt_sections") {
		var s Section
		if exact.Unmarshal(item, &s.Content) == nil || exact.Unmarshal(item, &s) == nil {
			sections = append(sections, s)
		}
	}
	for _, item := range c.items("assistant", "instructions") {
		var in instructions
		if exact.Unmarshal(item, &in.Title) == nil || exact.Unmarshal(item, &in) == nil {
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
	return lists.Map(s.Items(), func(item settings.Setting) json.RawMessage {
		return json.RawMessage(item.Value())
	})
}

// render formats a section exactly as jp does, including line breaks: a different prompt would not
// be in the provider's cache.
func (s Section) render() string {
	content := strings.TrimSpace(s.Content)
	switch {
	case content == "":
		return ""
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

// section formats instructions as the content of a section: paragraphs separated by blank lines.
func (in instructions) section() Section {
	var parts, items []string
	if d := strings.TrimSpace(in.Description); d != "" {
		parts = append(parts, d)
	}
	for _, item := range in.Items {
		items = append(items, "- "+strings.TrimSpace(item))
	}
	if items != nil {
		parts = append(parts, strings.Join(items, "\n"))
	}
	for i, raw := range in.Examples {
		if i == 0 {
			parts = append(parts, "**Examples**")
		}
		if e := example(raw); e != "" {
			parts = append(parts, e)
		}
	}
	return Section{
		Tag: "instruction", Title: in.Title, Content: strings.Join(parts, "\n\n"),
		Position: in.Position,
	}
}

// example formats an example: text, or a good and a bad one.
func example(raw []byte) string {
	var text string
	if exact.Unmarshal(raw, &text) == nil {
		return strings.TrimSpace(text)
	}
	var contrast struct {
		Good   string `json:"good"`
		Bad    string `json:"bad"`
		Reason string `json:"reason"`
	}
	if exact.Unmarshal(raw, &contrast) != nil {
		return ""
	}
	lines := []string{
		"Good: " + strings.TrimSpace(contrast.Good), "Bad: " + strings.TrimSpace(contrast.Bad),
	}
	if contrast.Reason != "" {
		lines = append(lines, "Reason: "+strings.TrimSpace(contrast.Reason))
	}
	return strings.Join(lines, "\n")
}

// characters escapes text between tags, as a CDATA section if it has markup.
func characters(s string) string {
	if !strings.ContainsAny(s, "<>&") {
		return s
	}
	return "<![CDATA[\n" + strings.ReplaceAll(s, "]]>", "]]]]><![CDATA[>") + "\n]]>"
}

func attribute(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
