package tool

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// A Parameter is one argument of a tool in its configuration.
type Parameter struct {
	Name        string
	Types       []string // of JSON Schema; several are alternatives
	Required    bool
	Default     jsontext.Value // nil if there is none
	Summary     string
	Description string
	Examples    string
	Enum        []jsontext.Value
	Items       *Parameter
	Properties  []Parameter
	Bounds      []Member // other keywords of JSON Schema, such as a pattern
}

// bounds are the keywords of JSON Schema that a parameter passes on unchanged.
var bounds = []string{
	"const", "pattern", "format", "minLength", "maxLength",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
}

// Brief returns the description in the schema: the summary, else the description.
func (p Parameter) Brief() string {
	return cmp.Or(p.Summary, p.Description)
}

// Schema returns the JSON Schema of an object with these members, in their order, so that equal
// definitions have equal bytes.
func Schema(ps []Parameter) jsontext.Value {
	return append(Object{{"type", Quote("object")}}, members(ps)...).Value()
}

// members returns what a schema says of an object with these members.
func members(ps []Parameter) Object {
	var properties Object
	required := []string{}
	for _, p := range ps {
		properties.Add(p.Name, p.schema())
		if p.Required {
			required = append(required, p.Name)
		}
	}
	return Object{
		{"properties", properties.Value()},
		{"required", marshal(required)},
		{"additionalProperties", jsontext.Value("false")},
	}
}

func (p Parameter) schema() jsontext.Value {
	var w Object
	switch len(p.Types) {
	case 0:
	case 1:
		w.Add("type", Quote(p.Types[0]))
	default:
		w.Add("type", marshal(p.Types))
	}
	if s := p.Brief(); s != "" {
		w.Add("description", Quote(s))
	}
	if p.Default != nil {
		w.Add("default", p.Default)
	}
	if p.Enum != nil {
		w.Add("enum", marshal(p.Enum))
	}
	for _, b := range p.Bounds {
		w.Add(b.Name, b.Value)
	}
	if p.Items != nil {
		w.Add("items", p.Items.schema())
	}
	if p.Properties != nil {
		w = append(w, members(p.Properties)...)
	}
	return w.Value()
}

// Quote returns a text as JSON.
func Quote(s string) jsontext.Value { return marshal(s) }

// marshal encodes values that cannot fail, without HTML escapes.
func marshal(v any) jsontext.Value {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings, lists of them, and decoded JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
