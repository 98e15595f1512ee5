package llmtest

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical returns JSON with sorted keys and no space, or what is no JSON as it is.
func canonical(v jsontext.Value) string {
	c := v.Clone()
	if err := c.Canonicalize(); err != nil {
		return string(v)
	}
	return string(c)
}

// Decoded returns JSON as values, for tests that look into a body; nil when it is none.
func Decoded(body []byte) map[string]any {
	var v map[string]any
	if json.Unmarshal(body, &v) != nil {
		return nil
	}
	return v
}
