package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/internal/llm"
)

// toolSchema returns the schema of a tool's arguments, and the schema by which to decide whether it
// can be enforced.
func toolSchema(t llm.Tool) (sent, judged json.RawMessage, err error) {
	if t.Schema == nil {
		none := `{"type":"object","properties":{},"required":[],"additionalProperties":false}`
		return json.RawMessage(none), json.RawMessage(none), nil
	}
	schema, err := llm.Object(t.Schema)
	if err != nil {
		return nil, nil, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(schema, &members); err != nil {
		return nil, nil, fmt.Errorf("tool %q: read schema: %w", t.Name, err)
	}
	if _, ok := members["properties"]; !ok {
		schema = withProperties(schema)
	}
	return schema, json.RawMessage(t.Schema), nil
}

// withProperties adds the member that the provider requires of every object.
func withProperties(schema json.RawMessage) json.RawMessage {
	rest := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(schema), []byte("{")))
	comma := ","
	if rest[0] == '}' {
		comma = ""
	}
	return slices.Concat([]byte(`{"properties":{}`+comma), rest)
}
