package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// An ArgumentsError says that the arguments of a call are invalid.
type ArgumentsError struct {
	Tool    string
	Missing []string
	Unknown []string
	Reason  string
}

// Error implements error, with a text that a model can act on.
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

// An outline is the part of a schema that is needed to correct arguments. The result is validated
// by the full schema.
type outline struct {
	Type       types              `json:"type"`
	Properties map[string]outline `json:"properties"`
	Required   []string           `json:"required"`
	Items      *outline           `json:"items"`
	Default    json.RawMessage    `json:"default"`
}

// types is "type" of a schema, one or several.
type types []string

// UnmarshalJSON reads a string or a list of strings; anything else is no type.
func (t *types) UnmarshalJSON(b []byte) error {
	var one string
	if exact.Unmarshal(b, &one) == nil {
		*t = types{one}
		return nil
	}
	var many []string
	if exact.Unmarshal(b, &many) == nil {
		*t = many
	}
	return nil
}

// Prepare returns the arguments in the form that the tool gets: a string of JSON of the declared
// type becomes that JSON, null for an optional member is removed, and defaults are filled in.
// Numbers keep their spelling. Arguments that do not follow the schema are an error.
func (d Definition) Prepare(args jsontext.Value) (jsontext.Value, error) {
	given := map[string]json.RawMessage{}
	if len(args) > 0 {
		if err := events.Loadable(args); err != nil {
			return nil, &ArgumentsError{Tool: d.Name, Reason: "not a JSON object: " + err.Error()}
		}
		if err := exact.Unmarshal(args, &given); err != nil || given == nil {
			return nil, &ArgumentsError{Tool: d.Name, Reason: "not an object"}
		}
	}
	whole, err := d.compile()
	if err != nil {
		return nil, err
	}
	var o outline
	if len(d.Schema) > 0 {
		// Keywords that an outline cannot express, such as a list of schemas for items, are
		// ignored.
		_ = exact.Unmarshal(d.Schema, &o)
	}
	o.members(given)
	for name, p := range o.Properties {
		if _, ok := given[name]; !ok && p.Default != nil && !p.absent(p.Default) {
			given[name] = p.Default
		}
	}
	if err := d.complete(o, given); err != nil {
		return nil, err
	}
	prepared := marshal(given)
	if whole == nil {
		return prepared, nil
	}
	if err := whole.Validate(prepared); err != nil {
		return nil, &ArgumentsError{Tool: d.Name, Reason: err.Error()}
	}
	return prepared, nil
}

// Check returns an error if arguments cannot be validated by the tool's schema.
func (d Definition) Check() error {
	_, err := d.compile()
	return err
}

// compile compiles the schema, nil if there is none.
func (d Definition) compile() (*schema.Schema, error) {
	if len(d.Schema) == 0 {
		return nil, nil
	}
	s, err := schema.Compile(d.Schema)
	if err != nil {
		return nil, fmt.Errorf("parameters of tool %q: %w", d.Name, err)
	}
	return s, nil
}

func (d Definition) complete(o outline, given map[string]json.RawMessage) error {
	e := &ArgumentsError{Tool: d.Name}
	for _, name := range o.Required {
		if _, ok := given[name]; !ok {
			e.Missing = append(e.Missing, name)
		}
	}
	for name := range given {
		if _, ok := o.Properties[name]; !ok && !d.Open {
			e.Unknown = append(e.Unknown, name)
		}
	}
	if e.Missing == nil && e.Unknown == nil {
		return nil
	}
	slices.Sort(e.Unknown)
	return e
}

// coerce corrects a value of the wrong type: models pass JSON in a string where another type is
// wanted, one value where a list of them is, and integers as 7.0, which is valid by the schema and
// which a program that expects an integer refuses.
func (o outline) coerce(v json.RawMessage) json.RawMessage {
	var text string
	if len(o.Type) > 0 && !slices.Contains(o.Type, "string") && exact.Unmarshal(v, &text) == nil {
		if inner := json.RawMessage(text); json.Valid(inner) && o.accepts(inner) {
			v = inner
		}
	}
	if slices.Equal(o.Type, types{"array"}) && o.Items != nil && o.Items.accepts(v) {
		v = json.RawMessage("[" + string(v) + "]")
	}
	switch kindOf(v) {
	case "number":
		whole, zeros, _ := bytes.Cut(v, []byte("."))
		if slices.Contains(o.Type, "integer") && !slices.Contains(o.Type, "number") &&
			strings.Trim(string(zeros), "0") == "" {
			return whole
		}
	case "array":
		var list []json.RawMessage
		if o.Items == nil || exact.Unmarshal(v, &list) != nil {
			return v
		}
		for i := range list {
			list[i] = o.Items.coerce(list[i])
		}
		return json.RawMessage(marshal(list))
	case "object":
		var members map[string]json.RawMessage
		if o.Properties == nil || exact.Unmarshal(v, &members) != nil {
			return v
		}
		o.members(members)
		return json.RawMessage(marshal(members))
	}
	return v
}

// members coerces the members of an object. Null for an optional member removes it: a model that
// must name every member cannot leave it out otherwise.
func (o outline) members(given map[string]json.RawMessage) {
	for name, p := range o.Properties {
		v, ok := given[name]
		switch {
		case !ok:
		case p.absent(v) && !slices.Contains(o.Required, name):
			delete(given, name)
		default:
			given[name] = p.coerce(v)
		}
	}
}

// absent reports whether a value is null where the types do not include null.
func (o outline) absent(v json.RawMessage) bool {
	return kindOf(v) == "null" && len(o.Type) > 0 && !o.accepts(v)
}

func (o outline) accepts(v json.RawMessage) bool {
	kind := kindOf(v)
	return slices.Contains(o.Type, kind) ||
		kind == "number" && slices.Contains(o.Type, "integer") && !bytes.ContainsAny(v, ".eE")
}

// kindOf returns the JSON Schema type of a JSON value.
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
