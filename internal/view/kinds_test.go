package view_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/html"
)

// TestImagesShow verifies that images of the kinds that browsers only paint are in the page, and
// that those that may run, such as SVG, are text or nothing.
func TestImagesShow(t *testing.T) {
	svg := `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>`
	for _, c := range []struct {
		mime, data string
		shown      bool
	}{
		{"image/png", "\x89PNG", true},
		{"image/jpeg", "\xff\xd8", true},
		{"image/gif", "GIF89a\xff", true},
		{"image/webp", "RIFF\xff", true},
		{"image/svg+xml", svg, false},
		{"image/png;x,<svg", svg, false},
		{"text/html", svg, false},
		{"IMAGE/SVG+XML", svg, false},
	} {
		k := newTalk().ask("q")
		k.add(&events.ToolCallRequest{ID: "a", Name: "Shot", Arguments: jsontext.Value("{}")})
		k.add(&events.ToolCallResponse{ID: "a", Blocks: []events.Block{
			{Type: events.BlockImage, MIMEType: c.mime, Content: blobs.Loaded([]byte(c.data))},
		}})
		text, root := page(t, view.Document{}, k.say("a").conversation(1))
		var sources []string
		for _, n := range find(root, "img", "") {
			sources = append(sources, attribute(n, "src"))
		}
		want := []string{"data:" + c.mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(c.data))}
		if !c.shown {
			want = nil
		}
		if !slices.Equal(sources, want) {
			t.Errorf("%s: got %q, want %q", c.mime, sources, want)
		}
		checkNoPictures(t, c.mime, text)
	}
}

// checkNoPictures verifies that a page has no picture and no frame of a kind that may run.
func checkNoPictures(t *testing.T, what, text string) {
	t.Helper()
	for _, bad := range []string{"<svg xmlns", "data:image/svg", "data:text", "<object", "<embed"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s: the page has %s", what, bad)
		}
	}
}

// TestTodoListsShow verifies that agents' to-do lists are shown as lists, each entry with its
// state.
func TestTodoListsShow(t *testing.T) {
	list := func(text, state string) []any {
		return []any{
			map[string]any{text: "read", state: "completed"},
			map[string]any{text: "write", state: "in_progress"},
			map[string]any{text: "test", state: "pending"},
		}
	}
	k := newTalk().ask("q").call("TodoWrite", map[string]any{"todos": list("content", "status")}, "ok", false)
	k.call("update_plan", map[string]any{"explanation": "next", "plan": list("step", "status")}, "ok", false)
	_, root := page(t, view.Document{}, k.say("a").conversation(1))
	all := find(root, "ul", "todos")
	if len(all) != 2 {
		t.Fatalf("got %d lists, want 2", len(all))
	}
	for _, l := range all {
		var states []string
		for _, n := range find(l, "span", "") {
			states = append(states, attribute(n, "title"))
		}
		if got := words(l); got != "☑ read ◐ write ☐ test" || strings.Join(states, ", ") != "done, in progress, open" {
			t.Errorf("got %q, %q", got, states)
		}
	}
}

// TestCodeIsThatOfItsFile verifies that a result, a written file and a block of an answer are
// highlighted by their name, and text is not.
func TestCodeIsThatOfItsFile(t *testing.T) {
	code := "func f() string { return \"x\" } // c\n"
	for _, c := range []struct {
		what string
		talk *talk
		want string
	}{
		{"result", newTalk().ask("q").call("Read", map[string]any{"file_path": "a.go"}, code, false), `func return "x" // c`},
		{"python", newTalk().ask("q").call("Read", map[string]any{"file_path": "a.py"}, "def f(): return 'x'\n", false), `def return 'x'`},
		{"text", newTalk().ask("q").call("Read", map[string]any{"file_path": "a.txt"}, code, false), ""},
		{"written", newTalk().ask("q").call("Write", map[string]any{"file_path": "a.go", "content": code}, "", false), `func return "x" // c`},
		{"answer", newTalk().ask("q").say("```go\n" + code + "```"), `func return "x" // c`},
	} {
		_, root := page(t, view.Document{}, c.talk.say("a").conversation(1))
		var got []string
		for _, pre := range find(root, "pre", "") {
			for _, n := range find(pre, "i", "") {
				got = append(got, words(n))
			}
		}
		for _, w := range strings.Fields(c.want) {
			if !strings.Contains(strings.Join(got, " "), w) {
				t.Errorf("%s: no %q in %q", c.what, w, got)
			}
		}
		if c.want == "" && len(got) > 0 {
			t.Errorf("%s: got %q", c.what, got)
		}
	}
}

// TestReasoningIsFolded verifies that reasoning is closed, with its first words in the line.
func TestReasoningIsFolded(t *testing.T) {
	k := newTalk().ask("q")
	k.add(&events.ChatResponse{Form: events.FormReasoning, Text: "first the index\n\nthen the rest"}).say("a")
	_, root := page(t, view.Document{}, k.conversation(1))
	all := find(root, "details", "reasoning")
	if len(all) != 1 || hasAttribute(all[0], "open") {
		t.Fatalf("got %d, want one that is closed", len(all))
	}
	if got := words(find(all[0], "summary", "")...); got != "Reasoning first the index then the rest" {
		t.Errorf("got %q", got)
	}
}

// TestConfigurationChangesAreMarks verifies that a change of the configuration shows what changed.
func TestConfigurationChangesAreMarks(t *testing.T) {
	k := newTalk().ask("q").say("a")
	k.add(&events.TurnStart{}).add(&events.ChatRequest{Content: "again"})
	k.add(&events.ConfigDelta{Delta: jsontext.Value(
		`{"assistant":{"model":{"id":{"provider":"openai","name":"gpt-5"}}}}`)}).say("b")
	_, root := page(t, view.Document{}, k.conversation(1))
	got := words(find(root, "p", "note")...)
	if !strings.HasPrefix(got, "Configuration") || !strings.Contains(got, "gpt-5") {
		t.Errorf("got %q", got)
	}
}

func hasAttribute(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// TestResourcesAndPicturesTell verifies that the title of a resource, the answers that a question
// offered, and the addresses in the words of a picture are on the page.
func TestResourcesAndPicturesTell(t *testing.T) {
	k := newTalk().ask("x").add(&events.ToolCallRequest{ID: "a", Name: "look", Arguments: jsontext.Value("{}")})
	k.add(&events.InquiryRequest{ID: "a.q", Source: jsontext.Value(`{"source":"tool","name":"look"}`), Question: jsontext.Value(
		`{"text":"Which?","answer_type":{"type":"select","options":[{"value":"one"}]}}`)})
	k.add(&events.ToolCallResponse{ID: "a", Blocks: []events.Block{{
		Type:     events.BlockResource,
		Resource: &events.Resource{URI: "test://r", Title: "The title", Content: blobs.Loaded([]byte("r"))},
	}}})
	_, root := page(t, view.Document{}, k.say("![a [b](https://c.example)](d)").conversation(1))
	got := words(root)
	for _, want := range []string{"test://r The title 1 byte", "Which? [one]", "a b (https://c.example)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// TestTitlesAreAtHand verifies that the titles of links and pictures are there, for a pointer that
// rests on them.
func TestTitlesAreAtHand(t *testing.T) {
	text, _ := page(t, view.Document{}, newTalk().ask("x").say("[a](https://b.example \"one\") "+
		"[c](/d \"two\") ![e](https://f.example \"three\") ![g](/h \"four\")").conversation(1))
	for _, want := range []string{
		`title="one">a<`, `title="/d two">c<`, `title="three">e<`, `title="/h four">g<`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not there", want)
		}
	}
}
