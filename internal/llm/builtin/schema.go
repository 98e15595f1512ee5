package builtin

import (
	"encoding/json"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// maxTitle is the longest text that is used as an answer, in characters.
const maxTitle = 50

// maxDepth limits the depth to which a schema is followed, since it may refer to itself.
const maxDepth = 16

// fill answers with the question's words, in the form of the schema.
func (s *search) fill() {
	var schema map[string]any
	if json.Unmarshal(s.request.Schema, &schema) != nil {
		schema = nil
	}
	raw, err := json.Marshal(s.instance(schema, 0))
	if err != nil { // cannot fail for decoded values
		raw = []byte("null")
	}
	s.out.Say(llm.PartText, string(raw))
	s.out.EndSaid()
	s.out.Stop(llm.Stop{Reason: llm.StopEnd})
}

// instance returns the simplest value that follows a schema.
func (s *search) instance(schema map[string]any, depth int) any {
	if one, ok := schema["const"]; ok {
		return one
	}
	if some, ok := schema["enum"].([]any); ok && len(some) > 0 {
		return some[0]
	}
	for _, alternatives := range []string{"anyOf", "oneOf", "allOf"} {
		if some, ok := schema[alternatives].([]any); ok && len(some) > 0 && depth < maxDepth {
			first, _ := some[0].(map[string]any)
			return s.instance(first, depth+1)
		}
	}
	switch kind(schema) {
	case "object":
		return s.object(schema, depth)
	case "array":
		return s.array(schema, depth)
	case "integer", "number":
		if least, ok := schema["minimum"].(float64); ok {
			return least
		}
		return 0
	case "boolean":
		return false
	case "null":
		return nil
	default:
		return s.title()
	}
}

func kind(schema map[string]any) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			first, _ := t[0].(string)
			return first
		}
	}
	if schema["properties"] != nil {
		return "object"
	}
	return ""
}

func (s *search) object(schema map[string]any, depth int) any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		sub, _ := properties[name].(map[string]any)
		if depth < maxDepth {
			out[name] = s.instance(sub, depth+1)
		}
	}
	return out
}

func (s *search) array(schema map[string]any, depth int) any {
	n := 1
	if least, ok := schema["minItems"].(float64); ok {
		n = int(min(least, 100))
	}
	items, _ := schema["items"].(map[string]any)
	out := []any{}
	for range n {
		if depth < maxDepth {
			out = append(out, s.instance(items, depth+1))
		}
	}
	return out
}

// title returns the beginning of the conversation's first question.
func (s *search) title() string {
	first := s.question
	for _, m := range s.request.Messages {
		if t, ok := firstText(m); ok {
			first = t
			break
		}
	}
	first = strings.Join(strings.Fields(first), " ")
	if r := []rune(first); len(r) > maxTitle {
		cut := string(r[:maxTitle])
		if i := strings.LastIndexByte(cut, ' '); i > 0 {
			cut = cut[:i]
		}
		return strings.TrimRight(cut, ",;:.- ")
	}
	return first
}

func firstText(m llm.Message) (string, bool) {
	for _, p := range m.Parts {
		if t, ok := p.(llm.Text); ok && m.Role == llm.RoleUser {
			return t.Text, true
		}
	}
	return "", false
}
