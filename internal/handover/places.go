package handover

import (
	"bytes"
	"encoding/json"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/sessions"
)

// places puts back the directories that an import took out of what was said, as they are on this
// machine: an agent that reads "$WORKSPACE/a.go" in its own call would call so again.
type places struct{ root, home string }

// isImported reports whether a conversation was imported as a whole, with the summaries in it. In
// what was not, $HOME is what somebody wrote.
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

// part leaves reasoning as it is: nothing was taken out of what was signed.
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

// inJSON returns a text as it stands within a string of JSON.
func inJSON(s string) string {
	q, err := json.Marshal(s)
	if err != nil {
		return s // what is no UTF-8
	}
	return string(q[1 : len(q)-1])
}
