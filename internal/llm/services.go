package llm

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Services are what a provider does beside answering. All are off unless the user asks for them;
// a provider that has no such service is not asked for it.
type Services struct {
	// WebSearch has the options of the provider's own search of the web, an object; nil is off.
	WebSearch jsontext.Value
	// Strict says whether calls are held to those schemas of tools that a provider can enforce;
	// nil leaves that to the format.
	Strict *bool
	// Context says how the provider is to shorten the prompt, in its own form: an object at
	// Anthropic, a list at OpenAI. Each is sent only what has its form.
	Context jsontext.Value
}

// Searches reports whether the provider is to search the web.
func (s Services) Searches() bool { return s.WebSearch.Kind() == '{' }

// Compacts reports whether the provider is to shorten the prompt itself.
func (s Services) Compacts() bool { return s.Context.Kind() == '{' || s.Context.Kind() == '[' }

// Holds reports whether calls of a tool are to be held to its schema, where the format does so
// or not by itself.
func (s Services) Holds(schema []byte, byItself bool) bool {
	if s.Strict != nil {
		byItself = *s.Strict
	}
	return byItself && Strict(schema)
}

// SearchTool returns the provider's tool for a search of the web: the members that make it one,
// and the user's options, which may name a newer type and make no other tool of it.
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
