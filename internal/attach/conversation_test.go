package attach

import (
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

func sample(t *testing.T) (*workspace.Workspace, string) {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	env := workspace.Env{
		Getenv: func(string) string { return "" }, Now: func() time.Time { return at }, Home: t.TempDir(),
	}
	root := t.TempDir()
	if _, err := workspace.Init(root, env); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	el := func(ev events.Event) *events.Element { return events.NewElement(at, ev, events.Metadata{}) }
	s := events.New(
		el(&events.TurnStart{}), el(&events.ChatRequest{Content: "first?"}),
		el(&events.ChatResponse{Form: events.FormReasoning, Text: "hm"}),
		el(&events.ToolCallRequest{ID: "1", Name: "look", Arguments: jsontext.Value(`{"x":1}`)}),
		el(&events.ToolCallResponse{ID: "1", Blocks: tool.OK("seen").Blocks}),
		el(&events.ChatResponse{Form: events.FormMessage, Text: "one"}),
		el(&events.TurnStart{}), el(&events.ChatRequest{Content: "second?"}),
		el(&events.ChatResponse{Form: events.FormMessage, Text: "two"}),
		el(&events.TurnStart{}), el(&events.ChatRequest{Content: "third?"}),
		el(&events.ChatResponse{Form: events.FormMessage, Text: "three"}),
	)
	title := "A talk"
	e, err := w.Create(t.Context(), &workspace.NewConversation{
		Details: &events.Details{Title: &title, LastActivatedAt: at}, Stream: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, e.ID.String()
}

func TestConversations(t *testing.T) {
	w, id := sample(t)
	r := New(Options{Conversations: w})
	tests := []struct{ query, uri, want string }{
		{"", "", "## Turn 3\n\n### Assistant\n\nthree\n"},
		{"?select=a", "", "## Turn 3\n\n### Assistant\n\nthree\n"},
		{"?select=u,a:2", "?select=a,u:2", "## Turn 2\n\n### User\n\nsecond?\n\n### Assistant\n\ntwo\n"},
		{"?select=assistant:-2", "?select=a:-2", "## Turn 2\n\n### Assistant\n\ntwo\n\n## Turn 3\n\n### Assistant\n\nthree\n"},
		{"?select=..2", "?select=a:..2", "## Turn 1\n\n### Assistant\n\none\n\n## Turn 2\n\n### Assistant\n\ntwo\n"},
		{"?select=*:1", "?select=*:1", "## Turn 1\n\n### User\n\nfirst?\n\n### Reasoning\n\nhm\n\n" +
			"### Tool: look\n\n```json\n{\"x\":1}\n```\n\n### Result: look\n\nseen\n\n### Assistant\n\none\n"},
		{"?select=r:1", "?select=r:1", "## Turn 1\n\n### Reasoning\n\nhm\n"},
	}
	for _, tt := range tests {
		res, failures := r.Resolve(t.Context(), []string{"jp://" + id + tt.query})
		if len(failures) > 0 || len(res) != 1 {
			t.Errorf("%s: %v", tt.query, failures)
			continue
		}
		b, _ := res[0].Content.Bytes(nil)
		if string(b) != tt.want || res[0].URI != "jp://"+id+tt.uri || res[0].Name != "A talk" {
			t.Errorf("%s: %s %q", tt.query, res[0].URI, b)
		}
		again, failures := r.Resolve(t.Context(), []string{res[0].URI})
		if len(failures) > 0 || again[0].URI != res[0].URI || again[0].Content.Ref() != res[0].Content.Ref() {
			t.Errorf("%s again: %v", res[0].URI, failures)
		}
	}
	for _, q := range []string{"?select=x", "?select=a:9", "?select=a:x", "?raw=no", "?nope=1"} {
		if res, failures := r.Resolve(t.Context(), []string{"jp://" + id + q}); len(failures) != 1 {
			t.Errorf("%s: %+v", q, res)
		}
	}
	if _, failures := r.Resolve(t.Context(), []string{"jp://jp-c1"}); len(failures) != 1 {
		t.Error("resolved a conversation that is not there")
	}
}

func TestRawConversations(t *testing.T) {
	w, id := sample(t)
	r := New(Options{Conversations: w})
	for query, want := range map[string][2]string{
		"?raw":          {"?raw=events", "third?"},
		"?select=1&raw": {"?select=a:1&raw=events", "first?"},
		"?raw=all":      {"?raw=all", "first?"},
	} {
		res, failures := r.Resolve(t.Context(), []string{"jp://" + id + query})
		if len(failures) > 0 {
			t.Fatal(failures)
		}
		b, _ := res[0].Content.Bytes(nil)
		if res[0].URI != "jp://"+id+want[0] || !strings.Contains(string(b), want[1]) ||
			strings.Contains(string(b), "second?") != (query == "?raw=all") ||
			!jsontext.Value(b).IsValid() || res[0].MIMEType != "application/json" {
			t.Errorf("%s: %s %s", query, res[0].URI, b)
		}
	}
}
