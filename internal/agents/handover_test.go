//go:build agents

package agents

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/handover"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/sessiontest"
)

// kept reads the contents that an import wrote.
type kept struct{ sessiontest.Contents }

func (k kept) Read(ref blobs.Ref) ([]byte, error) {
	if b, ok := k.Contents[ref.Hash]; ok {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

// TestHandedOver holds that agents go on with sessions that were written for them, of whatever
// agent they are, and give the model what was said.
func TestHandedOver(t *testing.T) {
	for _, a := range []*agent{claudeCode, codex} {
		for from, says := range map[string][]string{
			"claude-code/answer":   {"How many lines", "There are three lines."},
			"claude-code/calls":    {"Let me look.", "old_string", "It says four now."},
			"claude-code/image":    {picture[:40], "The dot is red."},
			"claude-code/subagent": {"Have the lines counted.", "The helper says three."},
			"codex/answer":         {"How many lines", "There are three lines."},
			"codex/calls":          {"Let me look.", "*** Begin Patch", "It says four now."},
			"codex/image":          {picture[:40], "The dot is red."},
			"codex/killed":         nil,
			"gemini/calls":         {"Let me look.", "It says four now."},
		} {
			t.Run(a.name+"/"+from, func(t *testing.T) {
				w := inhabit(t, a)
				s := w.handOver(filepath.Join(recorded, from))
				out := w.says(turn{prompt: "And now?", session: s.ID}, answer{text: "Gone on."})
				if !strings.Contains(out, "Gone on.") {
					t.Errorf("it did not go on:\n%s", out)
				}
				asked := w.provider.requests()
				if len(asked) == 0 {
					t.Fatal("it asked nothing")
				}
				body := string(asked[len(asked)-1].body)
				for _, word := range append(says, "And now?") {
					if !strings.Contains(body, word) {
						t.Errorf("the model is not given %q", word)
					}
				}
			})
		}
	}
}

// handOver writes what was recorded as a session of the agent.
func (w *world) handOver(dir string) *handover.Session {
	w.Helper()
	found, _ := importer.Find(w.Context(), sessions.Places{}, importer.Selection{
		Paths: []string{dir}, Foreign: true,
	})
	for _, f := range found {
		if f.Err != nil || !f.Parent.IsZero() {
			continue
		}
		all, contents := sessiontest.Read(w, f.Dialect, f.Session, sessions.Options{Root: f.Dir})
		s, err := handover.Write(sessions.Agent(w.agent.name), handover.Conversation{
			ID: 17528832001, Stream: all[0].Stream, Details: all[0].Details,
			BaseConfig: all[0].BaseConfig, Contents: kept{contents}, Root: w.project,
			Places: sessions.Places{Home: w.home, Getenv: func(string) string { return "" }},
		})
		w.check(err)
		w.write(s.Path, string(s.Data))
		w.Logf("left out: %v", s.Left)
		return s
	}
	w.Fatalf("there is no session in %s", dir)
	return nil
}
