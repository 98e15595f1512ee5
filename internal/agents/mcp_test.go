//go:build agents

package agents

import (
	"regexp"
	"strings"
	"testing"
)

// TestServer puts git jp mcp into each agent's settings and holds that the agent starts it, offers
// its tools to the model, and gives the model what a call of one says; and that the settings are as
// before when it is out again.
func TestServer(t *testing.T) {
	for _, a := range known {
		t.Run(a.name, func(t *testing.T) {
			w := inhabit(t, a)
			withJP(w)
			w.says(turn{prompt: "Where is the marmalade?"}, answer{text: "In the cupboard."})
			w.jp("import", a.name, "--yes")
			w.jp("capture", "--mcp", a.name)
			w.says(turn{prompt: "Which tools are there?"}, answer{text: "Some."})
			name := w.offered("find_conversations")
			w.says(turn{prompt: "What did we say of it?"},
				answer{calls: []call{{name: name, args: map[string]any{"words": "marmalade"}}}},
				answer{text: "That it is in the cupboard."})
			asked := w.provider.requests()
			if last := asked[len(asked)-1].last; !strings.Contains(last, "marmalade") || !strings.Contains(last, ".html#e-") {
				t.Errorf("the model was not given what the tool found: %s", last)
			}
			w.jp("capture", "--mcp", "--uninstall", a.name)
		})
	}
}

// offered returns the name under which an agent offers a tool.
func (w *world) offered(tool string) string {
	w.Helper()
	name := regexp.MustCompile(`"name":\s*"([^"]*` + tool + `)"`)
	for _, r := range w.provider.requests() {
		if found := name.FindSubmatch(r.body); found != nil {
			return string(found[1])
		}
	}
	w.Fatalf("%s offers no %s", w.agent.name, tool)
	return ""
}
