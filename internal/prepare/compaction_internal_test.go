package prepare

import (
	"context"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/llm/models"
	"github.com/git-jp/git-jp/internal/workspace"
)

// TestSummaryReadsAttachedConversation checks that a compaction can build the request that would
// continue a conversation, also one with an attached resource, which the model may refresh.
func TestSummaryReadsAttachedConversation(t *testing.T) {
	ctx, root, none := t.Context(), t.TempDir(), func(string) string { return "" }
	env := workspace.Env{Getenv: none, Now: time.Now}
	if _, err := workspace.Init(root, env); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root, env)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	asked := &events.ChatRequest{Content: "What is in it?", Resources: []events.Resource{
		{URI: "file:///notes", MIMEType: "text/plain", Content: blobs.Loaded([]byte("notes"))},
	}}
	stream := events.New(
		events.NewElement(time.Now(), &events.TurnStart{}, events.Metadata{}),
		events.NewElement(time.Now(), asked, events.Metadata{}),
		events.NewElement(time.Now(), &events.ChatResponse{
			Form: events.FormMessage, Text: "Notes.",
		}, events.Metadata{}),
	)
	entry, err := w.Create(ctx, &workspace.NewConversation{
		Details: &events.Details{LastActivatedAt: time.Now()}, Stream: stream,
	})
	if err != nil {
		t.Fatal(err)
	}
	conv, err := w.Load(entry)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load(config.Dirs{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := OpenCompaction(ctx, &Host{
		Getenv: none, Dir: root, Now: time.Now, Terminal: new(ask.Terminal),
		Repo:  func(context.Context) (*gitint.Repo, error) { return nil, gitint.ErrNotRepository },
		Short: func(path string) string { return path }, Models: models.Builtin,
	}, settings, w, conv)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	k.Model = unasked("ollama/m")
	if len(k.Definitions(ctx)) == 0 { // which also selects them
		t.Fatal("no tools are offered")
	}
	_, r, err := k.live(ctx)("Summarize.")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Messages); n != 3 || len(r.Tools) == 0 {
		t.Errorf("got %d messages and %d tools, want 3 and some", n, len(r.Tools))
	}
}
