package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/scripts"
)

// TestRmAsks tests the prompt at a terminal, which scripts do not have.
func TestRmAsks(t *testing.T) {
	for answer, deleted := range map[string]bool{
		"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yikes\n": false,
	} {
		dir := t.TempDir()
		conv := filepath.Join(dir, ".jp", "conversations", "17000000001")
		if err := os.MkdirAll(conv, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, data := range scripts.Conversation("a\x1b[2Jb", nil) {
			if name == "metadata.json" {
				data = `{"title": "a\u001b[2Jb", "last_activated_at": "2026-01-01 01:00:00.0"}`
			}
			if err := os.WriteFile(filepath.Join(conv, name), []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), &environment{
			args: []string{"rm", "17000000001"}, dir: dir, stdin: strings.NewReader(answer),
			stdout: &stdout, stderr: &stderr, now: time.Now, session: sessionID,
			stdinTerminal: true, stderrTerminal: true,
			env: []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "PATH=" + os.Getenv("PATH")},
		})
		_, err := os.Stat(conv)
		if gone := err != nil; gone != deleted || (code == report.ExitDone) != deleted {
			t.Errorf("%q: exit code %d, deleted is %v", answer, code, gone)
		}
		said := stderr.String()
		if !strings.Contains(said, "not committed") || strings.Contains(said, "hint:") ||
			strings.Contains(said, "\x1b") {
			t.Errorf("%q: said %q", answer, said)
		}
	}
}
