package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/internal/llm"
)

// object returns a schema as the library wants it. Its members keep their bytes: the order of
// properties is the order in which a model fills them.
func object(schema []byte) (map[string]any, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(schema, &members); err != nil || members == nil {
		return nil, fmt.Errorf("read schema: not an object: %w", err)
	}
	out := make(map[string]any, len(members))
	for name, raw := range members {
		out[name] = raw
	}
	return out, nil
}

// toolSchema returns the schema of a tool's arguments and whether the model can be held to it.
func toolSchema(t llm.Tool) (map[string]any, bool, error) {
	schema := []byte(t.Schema)
	if schema == nil {
		schema = []byte(`{"type":"object","properties":{},"required":[],` +
			`"additionalProperties":false}`)
	}
	members, err := object(schema)
	if err != nil {
		return nil, false, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	if _, ok := members["properties"]; !ok {
		members["properties"] = json.RawMessage("{}")
	}
	return members, strict(schema), nil
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
