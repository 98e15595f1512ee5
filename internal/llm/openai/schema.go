package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/internal/llm"
)

// toolSchema returns the schema of a tool's arguments and whether the model can be held to it.
func toolSchema(t llm.Tool) (json.RawMessage, bool, error) {
	if t.Schema == nil {
		none := `{"type":"object","properties":{},"required":[],"additionalProperties":false}`
		return json.RawMessage(none), true, nil
	}
	schema, err := llm.Object(t.Schema)
	if err != nil {
		return nil, false, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(schema, &members); err != nil {
		return nil, false, fmt.Errorf("tool %q: read schema: %w", t.Name, err)
	}
	if _, ok := members["properties"]; !ok {
		schema = withProperties(schema)
	}
	return schema, strict(t.Schema), nil
}

// withProperties adds the member that the provider wants of every object.
func withProperties(schema json.RawMessage) json.RawMessage {
	rest := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(schema), []byte("{")))
	comma := ","
	if rest[0] == '}' {
		comma = ""
	}
	return slices.Concat([]byte(`{"properties":{}`+comma), rest)
}

// strict reports whether the provider can hold a model to the schema: it refuses others when it
// is told to. Objects are closed and all their properties required, and there is no keyword
// that it does not know.
func strict(schema []byte) bool {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return false
	}
	_, union := root["anyOf"]
	return root["type"] == "object" && !union && strictAt(root)
}

func strictKeywords() []string {
	return []string{
		"type", "properties", "required", "additionalProperties", "items", "enum", "const",
		"description", "title", "default", "anyOf", "$ref", "$defs", "minimum", "maximum",
		"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "minItems", "maxItems",
	}
}

func strictAt(schema any) bool {
	node, ok := schema.(map[string]any)
	if !ok {
		return false
	}
	known := strictKeywords()
	for keyword := range node {
		if !slices.Contains(known, keyword) {
			return false
		}
	}
	if items, ok := node["items"]; ok && !strictAt(items) {
		return false
	}
	for _, keyword := range []string{"properties", "$defs"} {
		members, _ := node[keyword].(map[string]any)
		for _, sub := range members {
			if !strictAt(sub) {
				return false
			}
		}
	}
	choices, _ := node["anyOf"].([]any)
	for _, sub := range choices {
		if !strictAt(sub) {
			return false
		}
	}
	return closed(node)
}

// closed reports whether a schema of objects allows exactly its properties.
func closed(node map[string]any) bool {
	properties, isObject := node["properties"].(map[string]any)
	if !isObject {
		return node["type"] != "object"
	}
	required, _ := node["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return node["additionalProperties"] == false
}
