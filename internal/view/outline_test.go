package view_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/go-json-experiment/json/jsontext"
)

// TestOutlineCountsCalls verifies that each prompt of the outline has the number of its calls
// beside it, and names their tools.
func TestOutlineCountsCalls(t *testing.T) {
	k := newTalk().ask("one").call("Bash", map[string]any{"command": "a"}, "", false)
	k.call("Read", map[string]any{"path": "a"}, "", false).call("Bash", map[string]any{"command": "b"}, "", true)
	k.say("done").ask("two").say("nothing")
	_, root := page(t, view.Document{}, k.conversation(1))
	all := find(find(root, "nav", "outline")[0], "span", "did")
	if len(all) != 1 {
		t.Fatalf("got %d counts, want 1", len(all))
	}
	if got, tools := words(all...), attribute(all[0], "title"); got != "3 calls" || tools != "Bash ×2, Read" {
		t.Errorf("got %q of %q", got, tools)
	}
}

// TestWorkTakesTheTimeOfEvents verifies that a record without a time does not make the work before
// an answer last for decades.
func TestWorkTakesTheTimeOfEvents(t *testing.T) {
	k := newTalk()
	record, err := events.Decode([]byte(`[{"type": "git_jp_agent_record", "timestamp": "1970-01-01 00:00:00.0", "agent": "x", "kinds": {"y": 1}}]`))
	if err != nil {
		t.Fatal(err)
	}
	k.ask("q")
	k.s.Append(record.At(0))
	k.call("Read", map[string]any{"path": "a"}, "", false).call("Read", map[string]any{"path": "b"}, "", false).say("a")
	_, root := page(t, view.Document{}, k.conversation(1))
	if got := words(find(find(root, "details", "work")[0], "summary", "")[0]); got != "2 calls, 1 note · 3s" {
		t.Errorf("got %q", got)
	}
}

// TestTypedCommands shows commands of an agent as they were typed, in the outline, the title and
// the page, and their output as text.
func TestTypedCommands(t *testing.T) {
	injected := events.Metadata{}.With(events.MetadataInjected, jsontext.Value("true"))
	k := newTalk().ask("<command-message>review</command-message>\n<command-name>/review</command-name>\n" +
		"<command-args>_6_ <b></command-args>").say("fine")
	k.ask("<bash-input>ls *.go</bash-input>")
	k.add(&events.ChatRequest{Content: "<bash-stdout>\x1b[31ma.go\x1b[0m</bash-stdout><bash-stderr></bash-stderr>"}, injected)
	k.add(&events.ChatRequest{Content: "<command-name>/compact</command-name>"}, injected).say("ok")
	c := k.conversation(1)
	_, root := page(t, view.Document{}, c)
	if got := words(find(root, "nav", "outline")...); got != "Prompts /review _6_ <b> ! ls *.go" {
		t.Errorf("the outline has %q", got)
	}
	if got := words(find(root, "title", "")...); got != "“/review _6_ <b>”" {
		t.Errorf("the title is %q", got)
	}
	if got := words(find(root, "div", "prompt")...); got != "/review _6_ <b> ! ls *.go" {
		t.Errorf("the prompts are %q", got)
	}
	notes := find(root, "details", "injected")
	if len(notes) != 2 || words(notes[0]) != "Printed by a command, 67 bytes a.go" ||
		words(notes[1]) != "Typed for the agent alone: /compact, 37 bytes /compact" {
		t.Errorf("the notes are %q", words(notes...))
	}
	c.Title = "<bash-input>ls</bash-input>"
	if got := view.TitleOf(c); got != "! ls" {
		t.Errorf("the title is %q", got)
	}
}

// TestCallsLeaveNothingOut verifies that all of the arguments is shown, also of those that have a form of
// their own.
func TestCallsLeaveNothingOut(t *testing.T) {
	for name, args := range map[string]map[string]any{
		"command": {"command": "a", "why": "unseen"},
		"file":    {"path": "a.go", "content": "x", "why": "unseen"},
		"list":    {"todos": []any{map[string]any{"content": "a"}}, "why": "unseen"},
		"shell":   {"command": []string{"unseen/sh", "-c", "a"}},
		"python":  {"command": []string{"unseen", "-c", "a"}},
		"part":    {"command": []any{"a", map[string]any{"b": "unseen"}}},
		"entry":   {"todos": []any{map[string]any{"content": "a", "of": map[string]any{"b": "unseen"}}}},
		"plain":   {"todos": []any{map[string]any{"content": "a"}, "unseen"}},
		"twice":   {"todos": []any{map[string]any{"content": "a", "text": "unseen"}}},
		"state":   {"todos": []any{map[string]any{"content": "a", "status": "unseen"}}},
	} {
		_, root := page(t, view.Document{}, newTalk().ask("q").call("x", args, "", false).conversation(1))
		if !strings.Contains(words(root), "unseen") {
			t.Errorf("%s: something is not shown", name)
		}
	}
}
