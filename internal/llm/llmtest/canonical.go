package llmtest

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical returns JSON with sorted keys and without space. It returns other text unchanged.
func canonical(v jsontext.Value) string {
	c := v.Clone()
	if err := c.Canonicalize(); err != nil {
		return string(v)
	}
	return string(c)
}

// Decoded returns a JSON object as values, nil if body is not one.
func Decoded(body []byte) map[string]any {
	var v map[string]any
	if json.Unmarshal(body, &v) != nil {
		return nil
	}
	return v
}
