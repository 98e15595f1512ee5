//go:build agents

package agents

import (
	"strings"
	"testing"
)

// TestExported verifies that Claude Code and Codex continue a conversation of our own, which has a
// picture, thinking and calls and was merged, that a second export leaves it alone, and that
// imports bring what they said there into the conversation, once, as often as they continue, also
// with an export of that.
func TestExported(t *testing.T) {
	for _, a := range []*agent{claudeCode, codex} {
		t.Run(a.name, func(t *testing.T) {
			w := inhabit(t, a)
			withJP(w)
			w.ours()
			id := uuid.FindString(w.jp("export", "--format", a.name, "ours"))
			if id == "" {
				t.Fatal("export names no session")
			}
			out := w.says(turn{prompt: "And now?", session: id}, answer{text: "Gone on."})
			if !strings.Contains(out, "Gone on.") {
				t.Errorf("it did not go on:\n%s", out)
			}
			asked := w.provider.requests()
			body := string(asked[len(asked)-1].body)
			for _, word := range []string{
				"What is here?", picture[:40], "fs_list_files", "notes.txt", "Some notes.",
				"A question beside.", "An answer beside.", "A question here.", "An answer here.", "And now?",
			} {
				if !strings.Contains(body, word) {
					t.Errorf("the model is not given %q", word)
				}
			}
			w.jp("export", "--format", a.name, "ours")
			w.takes("And now?", "Gone on.")
			w.says(turn{prompt: "And then?", session: id}, answer{text: "Further on."})
			w.takes("And then?", "Further on.")
			next := uuid.FindString(w.jp("export", "--format", a.name, "ours"))
			if next == "" || next == id {
				t.Fatalf("it is session %q again", next)
			}
			w.says(turn{prompt: "And last?", session: next}, answer{text: "The end."})
			asked = w.provider.requests()
			if body := string(asked[len(asked)-1].body); !strings.Contains(body, "Further on.") {
				t.Error("the model is not given what was said in the other session")
			}
			w.takes("And last?", "The end.")
		})
	}
}

// takes imports what the agent wrote, twice, and verifies that it is in our own conversation alone.
func (w *world) takes(words ...string) {
	w.Helper()
	if out := w.jp("import", w.agent.name, "--yes"); !strings.Contains(out, "grown") {
		w.Errorf("import: %s", out)
	}
	said := w.jp("print", "ours")
	for _, word := range append(words, "A question beside.", "An answer here.") {
		if n := strings.Count(said, word); n != 1 {
			w.Errorf("%q stands %d times in\n%s", word, n, said)
		}
	}
	out := w.jp("import", w.agent.name)
	if strings.Contains(out, "grown") || strings.Contains(out, "new") {
		w.Errorf("import again: %s", out)
	}
	if all := w.imported(); len(all) != 1 {
		w.Errorf("there are other conversations than our own: %v", all)
	}
	if out := w.jp("check"); !strings.Contains(out, "no problems found") {
		w.Error(out)
	}
}

// ours makes a conversation of our own, which was continued on two branches and merged.
func (w *world) ours() {
	w.Helper()
	w.extra = append(w.extra, "ANTHROPIC_API_KEY=none", "JP_SESSION=ours")
	w.jp("config", "set", "-q", "providers.llm.anthropic.base_url", w.provider.URL)
	ask := func(script []answer, args ...string) {
		w.Helper()
		w.provider.play(script...)
		w.jp(append([]string{"query", "-q", "-m", "anthropic/claude-sonnet-4-5"}, args...)...)
		if left := w.provider.rest(); len(left) > 0 {
			w.Fatalf("%q did not ask for %+v", args, left)
		}
		w.jp("stage", "--all")
		w.git("commit", "-q", "-m", "ask")
	}
	ask([]answer{
		{think: "A look.", text: "I look.", calls: []call{{name: "fs_list_files", args: map[string]any{}}}},
		{text: "Some notes."},
	}, "--new", "--title", "ours", "-T", "-t", "fs_list_files", "--attach", "dot.png", "What is here?")
	w.git("checkout", "-q", "-b", "side")
	ask([]answer{{when: "A question beside.", text: "An answer beside."}}, "--id", "ours", "A question beside.")
	w.git("checkout", "-q", "main")
	ask([]answer{{when: "A question here.", text: "An answer here."}}, "--id", "ours", "A question here.")
	w.git("merge", "-q", "-m", "merge", "side")
}
