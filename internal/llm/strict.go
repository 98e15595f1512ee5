package llm

import (
	"encoding/json"
	"slices"
)

// Strict reports whether providers can enforce the schema; they refuse to enforce others. Its
// objects are closed with all properties required, and it has only keywords that they know.
func Strict(schema []byte) bool {
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
