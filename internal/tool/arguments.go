package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// An ArgumentsError says what is wrong with the arguments of a call.
type ArgumentsError struct {
	Tool    string
	Missing []string
	Unknown []string
	Reason  string
}

// Error says it in a way that a model can act on.
func (e *ArgumentsError) Error() string {
	var parts []string
	if e.Reason != "" {
		parts = append(parts, e.Reason)
	}
	if len(e.Missing) > 0 {
		parts = append(parts, "missing: "+strings.Join(e.Missing, ", "))
	}
	if len(e.Unknown) > 0 {
		parts = append(parts, "unknown: "+strings.Join(e.Unknown, ", "))
	}
	return fmt.Sprintf("Invalid arguments for tool '%s' (%s). Use `describe_tools` to see "+
		"what it takes.", e.Tool, strings.Join(parts, "; "))
}

// schema is what is read of a JSON Schema. Most of it is the tool's own business.
type schema struct {
	Type       types             `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	Default    json.RawMessage   `json:"default"`
}

// types is "type" of a schema, one or several.
type types []string

// UnmarshalJSON reads a string or a list of them; anything else is no type.
func (t *types) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = types{one}
		return nil
	}
	var many []string
	if json.Unmarshal(b, &many) == nil {
		*t = many
	}
	return nil
}

// Prepare returns the arguments as the tool is given them: text that holds JSON of the
// declared type is that JSON, and defaults are filled in. Numbers keep their spelling.
func (d Definition) Prepare(args jsontext.Value) (jsontext.Value, error) {
	given := map[string]json.RawMessage{}
	if len(args) > 0 {
		if err := events.Loadable(args); err != nil {
			return nil, &ArgumentsError{Tool: d.Name, Reason: "not a JSON object: " + err.Error()}
		}
		if err := json.Unmarshal(args, &given); err != nil || given == nil {
			return nil, &ArgumentsError{Tool: d.Name, Reason: "not an object"}
		}
	}
	s, err := readSchema(d.Schema)
	if err != nil {
		return nil, fmt.Errorf("schema of tool %q: %w", d.Name, err)
	}
	for name, p := range s.Properties {
		if v, ok := given[name]; ok {
			given[name] = p.coerce(v)
		} else if p.Default != nil {
			given[name] = p.Default
		}
	}
	if err := d.complete(s, given); err != nil {
		return nil, err
	}
	return marshal(given), nil
}

func (d Definition) complete(s schema, given map[string]json.RawMessage) error {
	e := &ArgumentsError{Tool: d.Name}
	for _, name := range s.Required {
		if _, ok := given[name]; !ok {
			e.Missing = append(e.Missing, name)
		}
	}
	for name := range given {
		if _, ok := s.Properties[name]; !ok && !d.Open {
			e.Unknown = append(e.Unknown, name)
		}
	}
	if e.Missing == nil && e.Unknown == nil {
		return nil
	}
	slices.Sort(e.Unknown)
	return e
}

func readSchema(v jsontext.Value) (s schema, err error) {
	if len(v) > 0 {
		err = json.Unmarshal(v, &s)
	}
	return s, err
}

// coerce unpacks text where something else is wanted, as models give it now and then.
func (s schema) coerce(v json.RawMessage) json.RawMessage {
	var text string
	if len(s.Type) > 0 && !slices.Contains(s.Type, "string") && json.Unmarshal(v, &text) == nil {
		if inner := json.RawMessage(text); json.Valid(inner) && s.accepts(inner) {
			v = inner
		}
	}
	return s.coerceInside(v)
}

func (s schema) coerceInside(v json.RawMessage) json.RawMessage {
	switch kindOf(v) {
	case "array":
		var list []json.RawMessage
		if s.Items == nil || json.Unmarshal(v, &list) != nil {
			return v
		}
		for i := range list {
			list[i] = s.Items.coerce(list[i])
		}
		return json.RawMessage(marshal(list))
	case "object":
		var members map[string]json.RawMessage
		if s.Properties == nil || json.Unmarshal(v, &members) != nil {
			return v
		}
		for name, p := range s.Properties {
			if m, ok := members[name]; ok {
				members[name] = p.coerce(m)
			}
		}
		return json.RawMessage(marshal(members))
	}
	return v
}

func (s schema) accepts(v json.RawMessage) bool {
	kind := kindOf(v)
	return slices.Contains(s.Type, kind) ||
		kind == "number" && slices.Contains(s.Type, "integer") && !bytes.ContainsAny(v, ".eE")
}

// kindOf returns the type of a JSON value as JSON Schema calls it.
func kindOf(v json.RawMessage) string {
	for _, c := range v {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		case '{':
			return "object"
		case '[':
			return "array"
		case '"':
			return "string"
		case 't', 'f':
			return "boolean"
		case 'n':
			return "null"
		}
		return "number"
	}
	return ""
}
