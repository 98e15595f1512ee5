package query_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	closed = `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"],"additionalProperties":false}`
	loose  = `{"type":"object","properties":{"n":{"type":"number"}}}`
)

// served returns members of the body that a dialect encodes for a question with these tools.
func served(t *testing.T, name string, p llm.Params, tools ...llm.Tool) map[string]json.RawMessage {
	t.Helper()
	w := dialects[name]
	body, err := llmtest.Wire(t, w.format, w.model, &llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "q"}}}},
		Params:   p, Tools: tools, Cache: llm.CachePolicy{Off: true},
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatal(err)
	}
	return members
}

// TestSearchesTheWebOnTheWire checks that web search is the provider's own tool, if it has one, and
// is requested only if the user asks for it.
func TestSearchesTheWebOnTheWire(t *testing.T) {
	given := map[string]string{
		"anthropic": `[{"max_uses":3,"name":"web_search","type":"web_search_20250305"}]`,
		"responses": `[{"max_uses":3,"type":"web_search"}]`,
		"chat":      `[{"parameters":{"max_uses":3},"type":"openrouter:web_search"}]`,
		"gemini":    `[{"googleSearch":{"max_uses":3}}]`,
		"mistral":   ``, "local": ``, "ollama": ``,
	}
	plain := map[string]string{
		"anthropic": `[{"name":"web_search","type":"web_search_20250305"}]`,
		"responses": `[{"type":"web_search"}]`,
		"chat":      `[{"type":"openrouter:web_search"}]`,
		"gemini":    `[{"googleSearch":{}}]`,
	}
	if diff := len(given) - len(dialects); diff != 0 {
		t.Errorf("%d dialects are not tried", -diff)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		for options, want := range map[string]string{
			`{"max_uses":3}`: given[name], `{}`: plain[name], `false`: ``, ``: ``,
		} {
			p := llm.Params{Services: llm.Services{WebSearch: jsontext.Value(options)}}
			if got := served(t, name, p)["tools"]; string(got) != want {
				t.Errorf("%s, %s: %s, want %s", name, options, got, want)
			}
		}
	}
	newer := llm.Params{Services: llm.Services{WebSearch: jsontext.Value(`{"type":"web_search_20260318"}`)}}
	if got := served(t, "anthropic", newer)["tools"]; string(got) != `[{"name":"web_search","type":"web_search_20260318"}]` {
		t.Errorf("another type: %s", got)
	}
}

// TestSearchStandsBesideTools checks that the search is offered beside the tools of the
// conversation, if the provider allows both, and that a tool of the same name is renamed.
func TestSearchStandsBesideTools(t *testing.T) {
	p := llm.Params{Services: llm.Services{WebSearch: jsontext.Value(`{}`)}}
	for name, want := range map[string]string{
		"anthropic": `[{"name":"web_search","type":"web_search_20250305"},` +
			`{"input_schema":` + loose + `,"name":"web_search_2a7196","type":"custom"}]`,
		"chat": `[{"type":"openrouter:web_search"},{"function":{"name":"web_search","parameters":` + loose +
			`},"type":"function"}]`,
		"gemini": `[{"functionDeclarations":[{"name":"web_search","parametersJsonSchema":` + loose + `}]}]`,
		"responses": `[{"type":"web_search"},{"type":"function","name":"web_search","parameters":` + loose +
			`,"strict":false}]`,
	} {
		got := served(t, name, p, llm.Tool{Name: "web_search", Schema: jsontext.Value(loose)})["tools"]
		if string(got) != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
}

// TestStrictToolsOnTheWire checks that calls are restricted to an enforceable schema if the user
// asks for it; the Responses format does so by default.
func TestStrictToolsOnTheWire(t *testing.T) {
	yes, no := true, false
	strict := func(name string, how *bool, schema string) bool {
		got := served(t, name, llm.Params{Services: llm.Services{Strict: how}},
			llm.Tool{Name: "f", Schema: jsontext.Value(schema)})
		var tools []struct {
			Strict   bool
			Function struct{ Strict bool }
		}
		if err := json.Unmarshal(got["tools"], &tools); err != nil || len(tools) != 1 {
			t.Fatalf("%s: %s", name, got["tools"])
		}
		return tools[0].Strict || tools[0].Function.Strict
	}
	bounded := `{"type":"object","properties":{"n":{"type":"number","minimum":1}},"required":["n"],"additionalProperties":false}`
	for _, c := range []struct {
		name, schema string
		how          *bool
		want         bool
	}{
		{"chat", closed, nil, false},
		{"chat", closed, &yes, true},
		{"chat", loose, &yes, false},
		{"local", closed, nil, false},
		{"local", closed, &yes, true},
		{"mistral", closed, &yes, true},
		{"responses", closed, nil, true},
		{"responses", closed, &no, false},
		{"responses", loose, &yes, false},
		{"anthropic", closed, nil, false},
		{"anthropic", closed, &yes, true},
		{"anthropic", loose, &yes, false},
		{"anthropic", bounded, &yes, false},
		{"chat", bounded, &yes, true},
		{"ollama", closed, &yes, false},
	} {
		if got := strict(c.name, c.how, c.schema); got != c.want {
			t.Errorf("%s, %v: strict is %v for %s", c.name, c.how, got, c.schema)
		}
	}
}
