//go:build agents

package agents

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A scene is something that happens to sessions.
type scene struct {
	name string
	play func(*world)
	// only and not name the agents that can, or cannot, be brought to it from a command line.
	only, not []string
	// says are words that the session files must have afterwards, and one conversation if it is
	// together.
	says     []string
	together bool
}

var scenes = []scene{
	{
		name: "answer", says: []string{"How many lines", "There are three lines."},
		play: func(w *world) {
			w.says(turn{prompt: "How many lines has notes.txt?"},
				answer{think: "Three, I think.", text: "There are three lines."})
		},
	},
	{
		name: "calls", says: []string{"Let me look.", "It says four now."},
		play: func(w *world) {
			tools, notes := w.agent.tools, filepath.Join(w.project, "notes.txt")
			w.says(turn{prompt: "Change three to four in notes.txt."},
				answer{text: "Let me look.", calls: []call{tools.read(notes), tools.shell("wc -l notes.txt")}},
				answer{calls: []call{tools.edit(notes, "three", "four")}},
				answer{calls: []call{tools.shell("grep -q five notes.txt || exit 3")}},
				answer{text: "It says four now."})
			if got := w.read("notes.txt"); !strings.Contains(got, "four") {
				w.Errorf("the agent did not run the tools: notes.txt says %q", got)
			}
		},
	},
	{
		name: "refusal", says: []string{"tell me a secret"},
		play: func(w *world) {
			w.says(turn{prompt: "Please tell me a secret."},
				answer{text: "I will not do that.", refuses: true})
		},
	},
	{
		name: "fault", says: []string{"not to your taste"},
		play: func(w *world) {
			w.says(turn{prompt: "This is not to your taste."}, answer{status: 400})
		},
	},
	{
		name: "resume", says: []string{"first question", "first answer", "second question", "second answer"},
		play: func(w *world) {
			w.says(turn{prompt: "The first question."}, answer{text: "The first answer."})
			w.says(turn{prompt: "The second question.", resume: true}, answer{text: "The second answer."})
		},
	},
	{
		name: "fork", not: []string{"gemini", "copilot"}, together: true,
		says: []string{"first question", "first answer", "question of the fork", "answer of the fork"},
		play: func(w *world) {
			w.says(turn{prompt: "The first question."}, answer{text: "The first answer."})
			before := len(w.files())
			w.says(turn{prompt: "A question of the fork.", fork: true}, answer{text: "The answer of the fork."})
			if now := len(w.files()); now == before && w.agent != opencode {
				w.Errorf("the fork has no file of its own: %q", w.files())
			}
		},
	},
	{
		name: "compaction", only: []string{"claude-code", "codex", "opencode"},
		says: []string{"first question", "first answer", "IN SHORT", "second question", "second answer"},
		play: func(w *world) {
			summary := answer{when: "ummar", text: "IN SHORT: a question was answered."}
			if w.agent == opencode { // which keeps the last turn if the others are long
				w.says(turn{prompt: "The first question."}, answer{text: "The first answer."})
				w.says(turn{prompt: "More of it?", resume: true}, answer{text: strings.Repeat("Much more. ", 20_000)})
				w.says(turn{prompt: "And then?", resume: true},
					answer{text: "No more.", tokens: 199_000}, summary, answer{text: "Nothing else."})
				w.says(turn{prompt: "The second question.", resume: true}, answer{text: "The second answer."})
				return
			}
			w.says(turn{prompt: "The first question."}, answer{text: "The first answer.", tokens: 190_000})
			if w.agent == claudeCode { // which does not compact short sessions
				w.says(turn{prompt: "More of it?", resume: true}, answer{text: "No more."})
				w.says(turn{prompt: "/compact", resume: true}, summary)
				w.says(turn{prompt: "The second question.", resume: true}, answer{text: "The second answer."})
				return
			}
			w.says(turn{prompt: "The second question.", resume: true}, summary, answer{text: "The second answer."})
		},
	},
	{
		name: "image", says: []string{"colour of this dot", "The dot is red."},
		play: func(w *world) {
			w.says(turn{prompt: "Name the colour of this dot.", image: "dot.png"},
				answer{text: "The dot is red."})
			asked := w.provider.requests()
			if !slices.ContainsFunc(asked, func(r request) bool { return strings.Contains(string(r.body), picture[:40]) }) {
				w.Error("no request has the picture")
			}
		},
	},
	{
		name: "subagent", says: []string{"Have the lines counted.", "COUNT THEM", "The helper says three."},
		play: func(w *world) {
			tools := w.agent.tools
			if w.agent == codex {
				codexTeam(w)
				return
			}
			w.says(turn{prompt: "Have the lines counted."},
				answer{text: "A helper does it.", calls: []call{tools.delegate("COUNT THEM in notes.txt")}},
				answer{when: "COUNT THEM", calls: []call{tools.shell("wc -l notes.txt")}},
				answer{text: "Three lines."},
				answer{text: "The helper says three."})
		},
	},
	{
		name: "code-mode", only: []string{"codex"}, says: []string{"Count in code.", "tools.exec_command", "Three."},
		play: func(w *world) {
			w.says(turn{prompt: "Count in code.", model: codeMode},
				answer{think: "Code, then.", calls: []call{{name: "exec", free: countInCode}}},
				answer{text: "Three."})
		},
	},
	{
		name: "interrupt", says: []string{"long story"},
		play: func(w *world) {
			w.breaksOff(syscall.SIGINT, turn{prompt: "Tell a long story."},
				answer{text: "Once upon a time", hangs: true})
		},
	},
	{
		name: "killed", says: []string{"Look and die."},
		play: func(w *world) {
			tools := w.agent.tools
			w.breaksOff(syscall.SIGKILL, turn{prompt: "Look and die."},
				answer{text: "I look.", calls: []call{tools.shell("wc -l notes.txt")}},
				answer{text: "There", hangs: true})
			w.says(turn{prompt: "Go on where you were.", resume: true}, answer{text: "Gone on."})
		},
	},
}

// codeMode is a model for which Codex has only one tool, that runs JavaScript, and with which it
// talks to other agents.
const codeMode = "gpt-5.6-sol"

// codexTeam is a sub-agent of Codex: it works beside the one that started it, which waits.
func codexTeam(w *world) {
	w.says(turn{prompt: "Have the lines counted.", model: codeMode},
		answer{when: "Have the lines", text: "A helper does it.", calls: []call{{
			name: "spawn_agent", space: "collaboration", args: map[string]any{
				"message": "COUNT THEM in notes.txt", "task_name": "counter", "fork_turns": "none",
			},
		}}},
		answer{when: `"output":"{\"task_name`, calls: []call{{
			name: "wait_agent", space: "collaboration", args: map[string]any{"timeout_ms": 60000},
		}}},
		answer{when: "COUNT THEM", calls: []call{{name: "exec", free: countInCode}}},
		answer{when: "3 notes.txt", text: "Three lines."},
		answer{text: "The helper says three."})
}

const countInCode = `const r = await tools.exec_command({cmd: "wc -l notes.txt"}); text(r.output);`

// TestScenes plays every scene with every agent and verifies that its session files have what was
// said there.
func TestScenes(t *testing.T) {
	for _, a := range known {
		t.Run(a.name, func(t *testing.T) {
			for _, s := range scenes {
				if slices.Contains(s.not, a.name) || s.only != nil && !slices.Contains(s.only, a.name) {
					continue
				}
				t.Run(s.name, func(t *testing.T) {
					w := inhabit(t, a)
					s.play(w)
					w.wrote(s.says)
					w.record(s.name)
					w.imports(s)
				})
			}
		})
	}
}

// wrote verifies that the session files have these words.
func (w *world) wrote(words []string) {
	w.Helper()
	var all strings.Builder
	for _, name := range w.files() {
		all.WriteString(w.below(name))
	}
	for _, word := range words {
		if !strings.Contains(all.String(), word) {
			w.Errorf("no session file of %s has %q: %q", w.agent.name, word, w.files())
		}
	}
	if w.provider.strangers != nil {
		w.Logf("%s wanted to reach %q", w.agent.name, w.provider.strangers)
	}
}
