package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/git-jp/git-jp/internal/lists"
)

// refused reports whether the provider refuses a keyword of JSON Schema in an output schema. The
// description mentions it instead, and the caller validates the answer by it.
func refused(word string, value any) bool {
	switch word {
	case "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties",
		"contains", "minContains", "maxContains", "patternProperties", "propertyNames",
		"if", "then", "else", "not", "$schema":
		return true
	case "minItems":
		n, ok := value.(json.Number)
		return !ok || n != "0" && n != "1"
	default:
		return false
	}
}

// outputSchema returns the schema in a form that the provider accepts: without refused keywords,
// and with closed objects.
func outputSchema(schema jsontext.Value) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	out, err := json.Marshal(accepted(v))
	if err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return out, nil
}

func accepted(v any) any {
	s, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	told := map[string]any{}
	for word, value := range s {
		switch {
		case refused(word, value):
			if word != "$schema" {
				told[word] = value
			}
		case word == "properties" || word == "$defs" || word == "definitions":
			out[word] = acceptedEach(value)
		case word == "items" || word == "anyOf" || word == "allOf" || word == "oneOf":
			out[word] = acceptedList(value)
		default:
			out[word] = value
		}
	}
	if s["type"] == "object" {
		out["additionalProperties"] = false
	}
	tell(out, told)
	return out
}

func acceptedEach(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for name, sub := range m {
		out[name] = accepted(sub)
	}
	return out
}

func acceptedList(v any) any {
	list, ok := v.([]any)
	if !ok {
		return accepted(v)
	}
	return lists.Map(list, accepted)
}

// tell adds the refused keywords to the description, as the vendor's libraries do.
func tell(schema, told map[string]any) {
	if len(told) == 0 {
		return
	}
	raw, err := json.Marshal(told)
	if err != nil {
		return // numbers, strings and schemas that were just decoded
	}
	words := strings.NewReplacer(`"`, "", ":", ": ", ",", ", ").Replace(string(raw))
	if d, ok := schema["description"].(string); ok && d != "" {
		words = d + "\n\n" + words
	}
	schema["description"] = words
}

// enforceable reports whether the provider accepts a tool's schema unchanged when it must enforce
// it. The same restrictions apply as for answers.
func enforceable(schema jsontext.Value) bool {
	out, err := outputSchema(schema)
	if err != nil {
		return false
	}
	var before, after any
	return json.Unmarshal(schema, &before) == nil && json.Unmarshal(out, &after) == nil &&
		reflect.DeepEqual(before, after)
}
