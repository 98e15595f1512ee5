package query_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/git-jp/git-jp/internal/tool"
)

// imports calls test with the conversations of each available session: those that agents wrote for
// this project, those that were made for it, and real ones if present.
func imports(
	t *testing.T,
	test func(t *testing.T, f importer.Found, c *sessions.Conversation, its sessionstest.Contents),
) {
	t.Helper()
	paths := []string{"../sessions/testdata/recorded", "../sessions/sessionstest/testdata/made"}
	if data, ok := realdata.Find(); ok {
		paths = append(paths, filepath.Join(data, "agents"))
	}
	agents := map[sessions.Agent]bool{}
	found, _ := importer.Find(t.Context(), sessions.Places{}, importer.Selection{
		Paths: paths, Foreign: true,
	})
	for _, f := range found {
		if f.Err != nil {
			continue // not a session, or refused; other tests check which
		}
		agents[f.Name.Agent] = true
		t.Run(string(f.Name.Agent)+"/"+filepath.Base(f.Path), func(t *testing.T) {
			all, its := importFound(t, f)
			for _, c := range all {
				test(t, f, c, its)
			}
		})
	}
	for _, a := range []sessions.Agent{
		sessions.ClaudeCode, sessions.Codex, sessions.Gemini, sessions.Copilot, sessions.Opencode,
	} {
		if !agents[a] {
			t.Errorf("there is no session of %s", a)
		}
	}
}

// importFound imports a session.
func importFound(
	t *testing.T, f importer.Found,
) ([]*sessions.Conversation, sessionstest.Contents) {
	t.Helper()
	its := sessionstest.Contents{}
	b := sessions.NewBuilder(f.Session, sessions.Options{Writer: its, Root: f.Dir})
	v, err := f.Dialect.Read(t.Context(), f.Session, 0, b)
	if err != nil {
		t.Fatal(err)
	}
	all, err := b.Finish(v)
	if err != nil {
		t.Fatal(err)
	}
	return all, its
}

// An importedRecord is a record of a conversation that was imported.
type importedRecord struct {
	kept
	its sessionstest.Contents
}

func (r *importedRecord) Contents() blobs.Reader { return r.its }

// goOnWith asks a model in an imported conversation, and returns the rule of the provider that the
// request breaks.
func (a adapter) goOnWith(
	t *testing.T, stored *events.Stream, its sessionstest.Contents, p llm.Params,
) error {
	w := &receiver{}
	_, err := (&query.Turn{
		Record: &importedRecord{kept{stored}, its}, Tools: &offers{},
		Model: a.model(llm.Endpoint{
			BaseURL: "http://127.0.0.1:9", Key: "key",
			Client: wire.NewClient(wire.ClientOptions{Format: a.format, Base: w}),
		}),
		Setup: query.Setup{System: []string{"Be brief."}, Speaker: speaker, Params: p},
		Dedup: dedup.Options{Enabled: true, MinBytes: 30, Lookback: 30, Lines: true},
		Root:  "/home/ada/project",
		Now:   func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) },
	}).Run(t.Context(), query.Prompt{Request: &events.ChatRequest{Content: "And now?"}})
	if _, seen := errors.AsType[*llm.APIError](err); seen && len(w.bodies) > 0 {
		return nil // by the server that replaces the provider
	}
	return fmt.Errorf("%d requests: %w", len(w.bodies), err)
}

// offers are tools that are never called.
type offers struct{ query.Tools }

func (*offers) Definitions() []tool.Definition { return tools() }

// TestEveryProviderTakesWhatWasImported continues each session on models of all providers: with
// names of tools that a provider refuses, calls without results, empty texts, and pictures.
func TestEveryProviderTakesWhatWasImported(t *testing.T) {
	wishes := map[string]llm.Params{
		"nothing": {},
		"thought": {Reasoning: llm.ReasoningParams{Mode: llm.ReasoningBudget, Budget: 2000}},
	}
	imports(t, func(
		t *testing.T, f importer.Found, c *sessions.Conversation, its sessionstest.Contents,
	) {
		for wish, params := range wishes {
			for name, a := range adapters() {
				if !eachFormat[name] && f.Size > small && os.Getenv("GIT_JP_SOAK") == "" {
					continue
				}
				if err := a.goOnWith(t, c.Stream, its, params); err != nil {
					t.Errorf("%s: %s, asked for %s: %v", c.Name, name, wish, err)
				}
			}
		}
	})
}

// eachFormat has one adapter of each format. Larger sessions than small are sent to these only.
var eachFormat = map[string]bool{
	"anthropic": true, "openai": true, "gemini": true, "openrouter": true, "ollama": true,
}

const small = 128 << 10
