//go:build agents

package agents

import (
	"strings"
	"testing"
)

// TestExported holds that Claude Code and Codex go on with a conversation of our own, which has a
// picture, thinking and calls and was merged, that an import of what they said there is whole, and
// that a second export leaves it alone.
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
			w.jp("import", a.name, "--yes")
			var said string
			for _, c := range w.imported() {
				said += w.jp("print", c.ID)
			}
			for _, word := range []string{"A question beside.", "An answer here.", "Gone on."} {
				if !strings.Contains(said, word) {
					t.Errorf("what the agent went on with is imported without %q", word)
				}
			}
			if out := w.jp("check"); !strings.Contains(out, "nothing is wrong") {
				t.Error(out)
			}
		})
	}
}

// ours makes a conversation of our own, which two branches went on with and a merge united.
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
