package render

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// shownKeys is how many changed settings a line names.
const shownKeys = 3

// ConfigLine names the settings that a change of configuration sets.
func ConfigLine(delta []byte) string {
	var v any
	if json.Unmarshal(delta, &v) != nil {
		return "unreadable"
	}
	settings := leaves("", v)
	if len(settings) == 0 {
		return "no change"
	}
	slices.Sort(settings)
	rest := len(settings) - shownKeys
	if rest <= 0 {
		return strings.Join(settings, ", ")
	}
	shown := strings.Join(settings[:shownKeys], ", ")
	return fmt.Sprintf("%s and %s more", shown, Number(int64(rest)))
}

// leaves lists the settings below v as "key = value", long values without the
// value.
func leaves(path string, v any) []string {
	const longest = 60
	if object, ok := v.(map[string]any); ok {
		var all []string
		for key, value := range object {
			all = append(all, leaves(strings.TrimPrefix(path+"."+key, "."), value)...)
		}
		return all
	}
	value, err := json.Marshal(v)
	if err != nil || len(value) > longest {
		return []string{path}
	}
	return []string{path + " = " + string(value)}
}

// CompactionLine says which turns a compaction covers, counted from 1, and what it does.
func CompactionLine(c *events.Compaction) string {
	from, to := c.FromTurn+1, c.ToTurn+1
	var does []string
	if c.Summary != nil {
		does = append(does, "summary")
	}
	if c.StripReasoning {
		does = append(does, "reasoning")
	}
	if policy := toolPolicy(c.ToolCalls); policy != "" {
		does = append(does, policy)
	}
	count := max(to-from+1, 0)
	return fmt.Sprintf("turns %d..%d (%d total, %s)", from, to, count, strings.Join(does, " + "))
}

// toolPolicy names a policy as the command line spells it.
func toolPolicy(p *events.ToolCallPolicy) string {
	switch {
	case p == nil:
		return ""
	case p.Omit:
		return "tools omitted"
	case p.Request && p.Response:
		return "tools"
	case p.Request:
		return "tool requests"
	case p.Response:
		return "tool responses"
	default:
		return "tools kept"
	}
}

// QuestionText returns the text of an inquiry, with the answers that it offered.
func QuestionText(question []byte) string {
	var q struct {
		Text   string
		Answer json.RawMessage `json:"answer_type"` // of old builds: a word
	}
	if json.Unmarshal(question, &q) != nil || q.Text == "" {
		return compactJSON(question)
	}
	var answer struct{ Options []json.RawMessage }
	if json.Unmarshal(q.Answer, &answer) != nil || len(answer.Options) == 0 {
		return q.Text
	}
	return q.Text + " [" + strings.Join(lists.Map(answer.Options, optionText), ", ") + "]"
}

// optionText returns an answer that is offered: an object with its value, or the value alone.
func optionText(option json.RawMessage) string {
	var o struct{ Value, Description string }
	var bare string
	switch {
	case json.Unmarshal(option, &bare) == nil:
		return bare
	case json.Unmarshal(option, &o) != nil || o.Value == "":
		return compactJSON(option)
	case o.Description != "":
		return o.Value + ": " + o.Description
	}
	return o.Value
}

func unknownLine(it item) string {
	return fmt.Sprintf("%q, %s", string(it.el.Kind()), Bytes(int64(len(it.el.Raw()))))
}

// startedBy says which conversation a call started, "" for none. It names the first of the two ids
// that its session may have.
func startedBy(call *events.Element) string {
	session, ok := call.Metadata().Text(events.MetadataSubagent)
	if !ok {
		return ""
	}
	return "started " + events.SessionIDs(session)[0].String() + " (" + oneLine(session) + ")"
}
