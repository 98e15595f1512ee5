package llm

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Services are optional services of a provider. All are off unless the user enables them, and are
// requested only from a provider that has them.
type Services struct {
	// WebSearch has the options of the provider's own web search, an object; nil is off.
	WebSearch jsontext.Value
	// Strict sets whether calls are restricted to the schemas of tools that a provider can enforce;
	// nil leaves that to the format.
	Strict *bool
	// Context sets how the provider shortens the prompt, in its own form: an object for Anthropic,
	// a list for OpenAI. A provider is sent only its own form.
	Context jsontext.Value
}

// Searches reports whether the provider's web search is on.
func (s Services) Searches() bool { return s.WebSearch.Kind() == '{' }

// Compacts reports whether the provider shortens the prompt itself.
func (s Services) Compacts() bool { return s.Context.Kind() == '{' || s.Context.Kind() == '[' }

// Holds reports whether calls of a tool are restricted to its schema; byItself is the format's
// default.
func (s Services) Holds(schema []byte, byItself bool) bool {
	if s.Strict != nil {
		byItself = *s.Strict
	}
	return byItself && Strict(schema)
}

// SearchTool returns the provider's web search tool: the given members, and the user's options,
// which can name a newer type but cannot turn it into another tool.
func (s Services) SearchTool(members map[string]any) (json.RawMessage, error) {
	tool := maps.Clone(members)
	var options map[string]json.RawMessage
	if err := json.Unmarshal(s.WebSearch, &options); err != nil {
		return nil, err
	}
	for name, v := range options {
		if name != "name" && (name != "type" || strings.HasPrefix(string(v), `"web_search`)) {
			tool[name] = v
		}
	}
	return Encode(tool)
}
