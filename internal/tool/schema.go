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
	w := newObject()
	w.add("type", quote("object"))
	w.add("properties", properties(ps))
	w.add("required", required(ps))
	w.add("additionalProperties", jsontext.Value("false"))
	return w.end()
}

func properties(ps []Parameter) jsontext.Value {
	w := newObject()
	for _, p := range ps {
		w.add(p.Name, p.schema())
	}
	return w.end()
}

func required(ps []Parameter) jsontext.Value {
	names := []string{}
	for _, p := range ps {
		if p.Required {
			names = append(names, p.Name)
		}
	}
	return marshal(names)
}

func (p Parameter) schema() jsontext.Value {
	w := newObject()
	switch len(p.Types) {
	case 0:
	case 1:
		w.add("type", quote(p.Types[0]))
	default:
		w.add("type", marshal(p.Types))
	}
	if s := p.Brief(); s != "" {
		w.add("description", quote(s))
	}
	if p.Default != nil {
		w.add("default", p.Default)
	}
	if p.Enum != nil {
		w.add("enum", marshal(p.Enum))
	}
	for _, b := range p.Bounds {
		w.add(b.Name, b.Value)
	}
	if p.Items != nil {
		w.add("items", p.Items.schema())
	}
	if p.Properties != nil {
		w.add("properties", properties(p.Properties))
		w.add("required", required(p.Properties))
		w.add("additionalProperties", jsontext.Value("false"))
	}
	return w.end()
}

// An object writes a JSON object whose members keep their order.
type object struct{ bytes.Buffer }

func newObject() *object {
	o := new(object)
	o.WriteByte('{')
	return o
}

func (o *object) add(name string, v jsontext.Value) {
	if o.Len() > 1 {
		o.WriteByte(',')
	}
	o.Write(quote(name))
	o.WriteByte(':')
	o.Write(v)
}

func (o *object) end() jsontext.Value {
	o.WriteByte('}')
	return o.Bytes()
}

func quote(s string) jsontext.Value { return marshal(s) }

// marshal encodes values that cannot fail, without HTML escapes.
func marshal(v any) jsontext.Value {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings, lists of them, and decoded JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
