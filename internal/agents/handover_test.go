//go:build agents

package agents

import (
	"encoding/base64"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/handover"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
)

// kept reads the contents that an import wrote.
type kept struct{ sessionstest.Contents }

func (k kept) Read(ref blobs.Ref) ([]byte, error) {
	if b, ok := k.Contents[ref.Hash]; ok {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

// TestHandedOver verifies that agents continue sessions that were written for them, from whatever
// agent, and send the model what was said.
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
				w.goesOn(s, says...)
			})
		}
	}
}

// TestOursIsHandedOver verifies the same for a conversation of our own: attachments of each kind, a
// tool that the agent does not have, unsigned reasoning, a call without a result.
func TestOursIsHandedOver(t *testing.T) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	contents := sessionstest.Contents{}
	content := func(b string) blobs.Content {
		ref, _ := contents.Write([]byte(b)) // it only records
		return blobs.Refer(ref)
	}
	png, err := base64.StdEncoding.DecodeString(picture)
	if err != nil {
		t.Fatal(err)
	}
	var all []*events.Element
	for _, e := range []events.Event{
		&events.TurnStart{},
		&events.ChatRequest{Content: "What is in them?", Resources: []events.Resource{
			{URI: "file:///$WORKSPACE/a.txt", Content: content("the alpha text")},
			{URI: "file:///$WORKSPACE/a.png", MIMEType: "image/png", Content: content(string(png))},
			{URI: "file:///$WORKSPACE/a.wav", MIMEType: "audio/wav", Content: content("RIFF\x00")},
		}},
		&events.ChatResponse{Form: events.FormReasoning, Text: "Nobody signed this."},
		&events.ToolCallRequest{ID: "1", Name: "fs_read_file", Arguments: []byte(`{"path":"a.txt"}`)},
		&events.ToolCallRequest{ID: "2", Name: "fs.list files", Arguments: []byte(`{}`)},
		&events.ToolCallResponse{ID: "1", Blocks: []events.Block{{
			Type: events.BlockText, Content: content("the read text"),
		}}},
		&events.ChatResponse{Form: events.FormMessage, Text: "Three things."},
	} {
		all = append(all, events.NewElement(at, e, events.Metadata{}))
	}
	for _, a := range []*agent{claudeCode, codex} {
		t.Run(a.name, func(t *testing.T) {
			w := inhabit(t, a)
			s := w.keep(handover.Conversation{
				ID: 17528832001, Stream: events.New(all...), Details: &events.Details{},
				Contents: kept{contents},
			})
			w.goesOn(s, "the alpha text", "the read text", "fs_read_file", "fs_list_files",
				picture[:40], "audio/wav", "Three things.")
		})
	}
}

// goesOn verifies that the agent continues a session, and sends the model what was said.
func (w *world) goesOn(s *handover.Session, says ...string) {
	w.Helper()
	out := w.says(turn{prompt: "And now?", session: s.ID}, answer{text: "Gone on."})
	if !strings.Contains(out, "Gone on.") {
		w.Errorf("it did not go on:\n%s", out)
	}
	asked := w.provider.requests()
	if len(asked) == 0 {
		w.Fatal("it asked nothing")
	}
	body := string(asked[len(asked)-1].body)
	for _, word := range append(says, "And now?") {
		if !strings.Contains(body, word) {
			w.Errorf("the model is not given %q", word)
		}
	}
}

// keep writes a conversation as a session of the agent.
func (w *world) keep(c handover.Conversation) *handover.Session {
	w.Helper()
	c.Root = w.project
	c.Places = sessions.Places{Home: w.home, Getenv: func(string) string { return "" }}
	s, err := handover.Write(sessions.Agent(w.agent.name), c)
	w.check(err)
	w.write(s.Path, string(s.Data))
	w.Logf("left out: %v", s.Left)
	return s
}

// handOver writes a recording as a session of the agent.
func (w *world) handOver(dir string) *handover.Session {
	w.Helper()
	found, _ := importer.Find(w.Context(), sessions.Places{}, importer.Selection{
		Paths: []string{dir}, Foreign: true,
	})
	for _, f := range found {
		if f.Err != nil || !f.Parent.IsZero() {
			continue
		}
		all, contents := sessionstest.Read(w, f.Dialect, f.Session, sessions.Options{Root: f.Dir})
		return w.keep(handover.Conversation{
			ID: 17528832001, Stream: all[0].Stream, Details: all[0].Details,
			BaseConfig: all[0].BaseConfig, Contents: kept{contents},
		})
	}
	w.Fatalf("there is no session in %s", dir)
	return nil
}
