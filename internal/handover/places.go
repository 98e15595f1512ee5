package handover

import (
	"bytes"
	"encoding/json"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/sessions"
)

// places restores the directories that an import replaced, as they are on this machine: an agent
// that reads "$WORKSPACE/a.go" in its own call would use that path again.
type places struct{ root, home string }

// isImported reports whether a complete conversation was imported, with the summaries in it. In any
// other, $HOME is what someone wrote.
func (c Conversation) isImported() bool {
	labels := c.Details.Labels
	return labels[sessions.LabelSession] != "" || labels[sessions.LabelOf] != ""
}

func (p places) expand(all []llm.Message) []llm.Message {
	for _, m := range all {
		for i, part := range m.Parts {
			m.Parts[i] = p.part(part)
		}
	}
	return all
}

// part leaves reasoning unchanged: nothing was replaced in signed text.
func (p places) part(part llm.Part) llm.Part {
	switch part := part.(type) {
	case llm.Text:
		part.Text = p.text(part.Text)
		return part
	case llm.Resource:
		part.Text, part.URI = p.text(part.Text), p.text(part.URI)
		return part
	case llm.Call:
		if bytes.IndexByte(part.Args, '$') >= 0 {
			quoted := places{inJSON(p.root), inJSON(p.home)}
			part.Args = []byte(quoted.text(string(part.Args)))
		}
		return part
	case llm.Result:
		for i, inner := range part.Parts {
			part.Parts[i] = p.part(inner)
		}
		return part
	}
	return part
}

func (p places) text(s string) string { return sessions.Expand(s, p.root, p.home) }

// inJSON returns a text in its form within a JSON string.
func inJSON(s string) string {
	q, err := json.Marshal(s)
	if err != nil {
		return s // it is not UTF-8
	}
	return string(q[1 : len(q)-1])
}
