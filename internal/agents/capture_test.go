//go:build agents

package agents

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// gitJP builds the program once and returns its directory.
var gitJP = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "git-jp-agents-bin-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "git-jp"), "../../cmd/git-jp").CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return dir, nil
})

// jp runs git-jp in the project and returns what it prints.
func (w *world) jp(args ...string) string {
	w.Helper()
	return w.git(append([]string{"jp"}, args...)...)
}

// withJP gives a world the program and a workspace.
func withJP(w *world) {
	w.Helper()
	dir, err := gitJP()
	if err != nil {
		w.Fatal(err, dir)
	}
	w.extra = append(w.extra, "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	w.jp("init", "-q")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "init")
}

// imported returns the conversations that were imported into the workspace.
func (w *world) imported() (all []conversation) {
	w.Helper()
	for line := range strings.Lines(w.jp("ls", "--archived", "--json")) {
		var c conversation
		w.check(json.Unmarshal([]byte(line), &c))
		all = append(all, c)
	}
	return all
}

type conversation struct {
	ID    string `json:"id"`
	Turns int    `json:"turns"`
}

// TestCapture installs our hooks in each agent and verifies that a turn is imported when it has
// ended, that our hooks print nothing to the agent, that captures give the same result as an import
// at the end, and that removing the hooks restores the agent's settings.
func TestCapture(t *testing.T) {
	for _, a := range known {
		t.Run(a.name, func(t *testing.T) {
			w := inhabit(t, a)
			withJP(w)
			w.says(turn{prompt: "The first question."}, answer{text: "The first answer."})
			w.jp("import", a.name, "--yes")
			before := w.imported()
			if len(before) != 1 {
				t.Fatalf("import makes %+v", before)
			}
			w.jp("stage", "--all")
			w.git("commit", "-q", "-m", "first")
			w.restores(a.name)
			settings := w.settings()
			w.jp("capture", a.name)

			w.says(turn{prompt: "The second question.", resume: true}, answer{text: "The second answer."})
			w.eventually("the second answer is in a conversation", func() bool {
				return strings.Contains(w.jp("print", before[0].ID), "The second answer.")
			})
			w.eventually("no note is left", func() bool {
				return !strings.Contains(w.jp("capture"), "noted here")
			})
			if now := w.imported(); len(now) != 1 {
				t.Errorf("captured are %+v, want one conversation", now)
			}
			captured := w.jp("print", before[0].ID)
			if strings.Count(captured, "The first question.") != 1 || strings.Count(captured, "The second question.") != 1 {
				t.Errorf("captured is:\n%s", captured)
			}
			if out := w.jp("import", a.name, "-n"); !strings.Contains(out, "1 session unchanged") {
				t.Errorf("an import after the capture says %q", out)
			}
			if out := w.jp("check"); !strings.Contains(out, "no problems found") {
				t.Error(out)
			}
			w.jp("capture", "--uninstall", a.name)
			settings[agentsOwn] = ""
			now := w.settings()
			now[agentsOwn] = ""
			if !maps.Equal(now, settings) {
				t.Errorf("the settings are %q after uninstall, were %q", now, settings)
			}
			if out := w.jp("capture", "--status", a.name); !strings.Contains(out, " no ") {
				t.Error(out)
			}
		})
	}
}

// settings returns the files to which hooks and the server are added, as far as they exist.
func (w *world) settings() map[string]string {
	all := map[string]string{}
	for _, name := range []string{
		".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json",
		".copilot/hooks/git-jp.json", ".config/opencode/plugins/git-jp.js",
		".claude.json", ".codex/config.toml", ".copilot/mcp-config.json",
		".config/opencode/opencode.json",
	} {
		data, err := os.ReadFile(filepath.Join(w.home, name))
		if err == nil {
			all[name] = string(data)
		}
	}
	return all
}

// agentsOwn is the file of Claude Code's state, which it writes anew whenever it runs.
const agentsOwn = ".claude.json"

// restores verifies that removing hooks or the server at once restores the agent's files.
func (w *world) restores(args ...string) {
	w.Helper()
	before := w.settings()
	w.jp(append([]string{"capture"}, args...)...)
	if maps.Equal(before, w.settings()) {
		w.Errorf("capture %q changes no settings", args)
	}
	w.jp(append([]string{"capture", "--uninstall"}, args...)...)
	if now := w.settings(); !maps.Equal(now, before) {
		w.Errorf("after capture %q and its removal the settings are %q, were %q", args, now, before)
	}
}

// eventually waits for the effect of a background process.
func (w *world) eventually(what string, is func() bool) {
	w.Helper()
	for range 300 {
		if is() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.Errorf("not within half a minute: %s", what)
}

// imports imports what the agent has just written: the words of the scene are in a conversation,
// and a second import changes nothing.
func (w *world) imports(s scene) {
	w.Helper()
	withJP(w)
	w.jp("import", w.agent.name, "--yes")
	var all []string
	for _, c := range w.imported() {
		all = append(all, w.jp("print", c.ID))
	}
	if !s.together {
		all = []string{strings.Join(all, "")}
	}
	if !slices.ContainsFunc(all, func(said string) bool {
		return !slices.ContainsFunc(s.says, func(word string) bool {
			return !strings.Contains(said, word)
		})
	}) {
		w.Errorf("no conversation has all of %q:\n%s", s.says, all)
	}
	if out := w.jp("import", w.agent.name); strings.Contains(out, " new") || strings.Contains(out, " grown") {
		w.Errorf("a second import says %q", out)
	}
	if out := w.jp("check"); !strings.Contains(out, "no problems found") {
		w.Error(out)
	}
}
