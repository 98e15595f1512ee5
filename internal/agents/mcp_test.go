//go:build agents

package agents

import (
	"regexp"
	"strings"
	"testing"
)

// TestServer adds git jp mcp to each agent's settings and verifies that the agent starts it, offers
// its tools to the model, and sends the model the result of a call; and that removing it restores
// the settings.
func TestServer(t *testing.T) {
	for _, a := range known {
		t.Run(a.name, func(t *testing.T) {
			w := inhabit(t, a)
			withJP(w)
			w.says(turn{prompt: "Where is the marmalade?"}, answer{text: "In the cupboard."})
			w.jp("import", a.name, "--yes")
			w.restores("--mcp", a.name)
			w.jp("capture", "--mcp", a.name)
			w.says(turn{prompt: "Which tools are there?"}, answer{text: "Some."})
			find := w.offered("find_conversations")
			find.args = map[string]any{"words": "marmalade"}
			w.says(turn{prompt: "What did we say of it?"},
				answer{calls: []call{find}},
				answer{text: "That it is in the cupboard."})
			asked := w.provider.requests()
			if last := asked[len(asked)-1].last; !strings.Contains(last, "marmalade") || !strings.Contains(last, ".html#e-") {
				t.Errorf("the model was not given what the tool found: %s", last)
			}
			w.jp("capture", "--mcp", "--uninstall", a.name)
		})
	}
}

// offered returns a call of a tool by the name under which an agent offers it. Codex names the
// server and lists its tools on request; Claude Code 2.1.332 names the tools and describes them on
// request.
func (w *world) offered(tool string) call {
	w.Helper()
	name := regexp.MustCompile(`"name":\s*"([^"]*` + tool + `)"`)
	deferred := "mcp__git-jp__" + tool
	for _, r := range w.provider.requests() {
		if found := name.FindSubmatch(r.body); found != nil {
			return call{name: string(found[1])}
		}
		switch body := string(r.body); {
		case strings.Contains(body, "- mcp__git_jp: "):
			return call{name: tool, space: "mcp__git_jp"}
		case strings.Contains(body, deferred):
			return call{name: deferred}
		}
	}
	w.Fatalf("%s offers no %s", w.agent.name, tool)
	return call{}
}
