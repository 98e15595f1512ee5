package sessionstest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/codex"
	"github.com/git-jp/git-jp/internal/sessions/copilot"
	"github.com/git-jp/git-jp/internal/sessions/gemini"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
)

// fuzz imports any input that a reader recognizes as a session of its agent: either the
// conversations follow docs/format.md, or the session is refused. Reading up to a length equals
// reading a file cut at that length.
func fuzz(f *testing.F, name string, d sessions.Dialect, ext string) {
	for _, dir := range []string{recorded, made} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			continue
		}
		for _, path := range sessionstest.Files(f, filepath.Join(dir, name), ext) {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			const small = 8 << 10
			if len(data) < small {
				f.Add(data, len(data)/2)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		d.Recognize(data)
		dir := t.TempDir()
		whole := write(t, dir, "whole"+ext, data)
		if _, _, err := sessionstest.Try(d, whole, 0); err != nil {
			return // refused by name
		}
		if ext != ".jsonl" || cut <= 0 || cut > len(data) {
			return
		}
		all, kept, err := sessionstest.Try(d, write(t, dir, "cut.jsonl", data[:cut]), 0)
		if err != nil {
			return
		}
		grown, its := sessionstest.Import(t, d, whole, int64(cut))
		if want, got := sessionstest.Outline(t, all, kept), sessionstest.Outline(t, grown, its); got != want {
			t.Errorf("%d bytes read otherwise than the file cut there:\n%s\n%s", cut, got, want)
		}
	})
}

func FuzzClaude(f *testing.F)  { fuzz(f, "claude-code", claude.Dialect{}, ".jsonl") }
func FuzzCodex(f *testing.F)   { fuzz(f, "codex", codex.Dialect{}, ".jsonl") }
func FuzzCopilot(f *testing.F) { fuzz(f, "copilot", copilot.Dialect{}, ".jsonl") }
func FuzzGemini(f *testing.F)  { fuzz(f, "gemini", gemini.Dialect{}, ".jsonl") }
func FuzzGeminiObject(f *testing.F) {
	f.Add([]byte(`{"sessionId":"s","projectHash":"p","messages":[{"id":"1","type":"user","content":"Hi"}]}`), 0)
	fuzz(f, "gemini", gemini.Dialect{}, ".json")
}
