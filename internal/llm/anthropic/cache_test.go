package anthropic_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/google/go-cmp/cmp"
)

// marks lists the positions of breakpoints, with the number of blocks up to each in messages.
func marks(body map[string]any) []string {
	var found []string
	if body["cache_control"] != nil {
		found = append(found, "auto")
	}
	for _, list := range []string{"tools", "system"} {
		blocks, _ := body[list].([]any)
		for i, b := range blocks {
			if b.(map[string]any)["cache_control"] != nil {
				found = append(found, fmt.Sprintf("%s %d", list, i))
			}
		}
	}
	for i, m := range body["messages"].([]any) {
		for j, b := range m.(map[string]any)["content"].([]any) {
			if b.(map[string]any)["cache_control"] != nil {
				found = append(found, fmt.Sprintf("%d.%d", i, j))
			}
		}
	}
	return found
}

func TestBreakpoints(t *testing.T) {
	const own = "anthropic/" + haiku
	document := llm.Resource{URI: "file:///a", Text: "t"}
	tools := []llm.Tool{{Name: "x"}, {Name: "y"}}
	system := []llm.SystemText{{Text: "s"}, {Text: "t"}}
	long := []llm.Message{
		user(document, say("q")), assistant(own, say("a")), user(say("q2")),
		assistant(own, thought("x", "S"), call("1", "x")), user(result("1", "r")),
	}
	asked := append([]llm.Message(nil), long...)
	asked[1].Breakpoint = true
	searched := append([]llm.Message(nil), long...)
	searched[1] = assistant(own, say("a"), llm.Opaque{JSON: []byte(`{"type":"unknown"}`)})
	searched[1].Breakpoint = true
	for name, tt := range map[string]struct {
		request llm.Request
		want    []string
	}{
		"off":      {llm.Request{Messages: long, Cache: llm.CachePolicy{Off: true}}, nil},
		"short":    {llm.Request{Messages: []llm.Message{user(say("q"))}}, []string{"auto"}},
		"document": {llm.Request{Messages: []llm.Message{user(document, say("q"))}}, []string{"auto", "0.0"}},
		"tools":    {llm.Request{Messages: long[2:3], Tools: tools}, []string{"auto", "tools 1"}},
		"system":   {llm.Request{Messages: long[2:3], Tools: tools, System: system}, []string{"auto", "system 1"}},
		"section": {
			llm.Request{Messages: long[2:3], System: []llm.SystemText{{Text: "s", Breakpoint: true}, {Text: "t"}}},
			[]string{"auto", "system 0"},
		},
		"all":   {llm.Request{Messages: long, Tools: tools, System: system}, []string{"auto", "system 1", "0.0", "2.0"}},
		"asked": {llm.Request{Messages: asked, Tools: tools, System: system}, []string{"auto", "system 1", "1.0", "2.0"}},
		"own":   {llm.Request{Messages: searched, Tools: tools, System: system}, []string{"auto", "system 1", "1.0", "2.0"}},
	} {
		if diff := cmp.Diff(tt.want, marks(sent(t, haiku, &tt.request))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestBreakpointWhereTheLastRequestEnded checks that the next request finds the entry that one
// request writes: it has a breakpoint at the same position, however many blocks follow.
func TestBreakpointWhereTheLastRequestEnded(t *testing.T) {
	const own = "anthropic/" + haiku
	messages := []llm.Message{user(say("q"))}
	last := "0.0"
	for round := range 4 {
		said := []llm.Part{thought("x", "S")}
		var results []llm.Part
		for i := range 30 {
			id := fmt.Sprintf("%d_%d", round, i)
			said, results = append(said, call(id, "x")), append(results, result(id, "r"))
		}
		messages = append(messages, assistant(own, said...), user(results...))
		found := marks(sent(t, haiku, &llm.Request{Messages: messages}))
		if diff := cmp.Diff([]string{"auto", last}, found); diff != "" {
			t.Errorf("round %d (-want +got):\n%s", round, diff)
		}
		last = fmt.Sprintf("%d.29", len(messages)-1)
	}
}

func TestLifetime(t *testing.T) {
	for ttl, want := range map[time.Duration]string{
		0: "5m", 29 * time.Minute: "5m", 30 * time.Minute: "1h", 24 * time.Hour: "1h",
	} {
		r := &llm.Request{
			Messages: []llm.Message{user(say("q"))}, System: []llm.SystemText{{Text: "s"}},
			Cache: llm.CachePolicy{TTL: ttl},
		}
		body := sent(t, haiku, r)
		is(t, ttl.String(), body["cache_control"], `{"type":"ephemeral","ttl":"`+want+`"}`)
	}
}
