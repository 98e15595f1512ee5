//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatusMakesFewCalls: a status opens a new conversation once, and reads each of its files
// once. The number of other files that it opens does not depend on how many there are.
func TestStatusMakesFewCalls(t *testing.T) {
	b := newFaultBench(t)
	opens := func(conversations int) int {
		dir := filepath.Join(b.dir, fmt.Sprint(conversations))
		log := dir + ".calls"
		for i := range conversations {
			at := filepath.Join(dir, ".jp", "conversations", fmt.Sprint(17_000_000_000+i))
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{
				"metadata.json":    `{"title":"T","last_activated_at":"2026-01-01 00:00:00.0"}`,
				"base_config.json": "{}",
				"events.json":      `[{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"}]`,
			} {
				if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, args := range [][]string{
			{"git", "init", "-q", dir},
			{"strace", "-f", "-o", log, "-e", "trace=openat", "git-jp", "-C", dir, "status"},
		} {
			if out, err := b.run(b.dir, args[0], args[1:]...); err != nil {
				t.Fatalf("%q: %v\n%s", args, err, out)
			}
		}
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), " openat(")
	}
	const few, many, most = 10, 110, 6
	each := float64(opens(many)-opens(few)) / (many - few)
	t.Logf("%.1f opens for a conversation", each)
	if each > most {
		t.Errorf("%.1f opens for a conversation, want at most %d", each, most)
	}
}
