//go:build linux

package faults_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestImportMakesFewCalls: an import of many sessions does not open directories repeatedly, and
// waits for the disk only a few times in all if the file system can sync everything at once.
func TestImportMakesFewCalls(t *testing.T) {
	b := newFaultBench(t)
	const sessions, results = 24, 20
	dir, log := filepath.Join(b.dir, "repo"), filepath.Join(b.dir, "calls")
	from := filepath.Join(b.dir, "from")
	if err := os.Mkdir(from, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range sessions {
		file := filepath.Join(from, fmt.Sprintf("%08d.jsonl", i))
		if err := os.WriteFile(file, longSession(i, results), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"git", "init", "-q", dir},
		{"git-jp", "-C", dir, "init", "-q"},
		{
			"strace", "-f", "-o", log, "-e", "trace=openat,fsync,syncfs",
			"git-jp", "-C", dir, "import", "-q", "--yes", "--foreign", from,
		},
	} {
		if out, err := b.run(b.dir, args[0], args[1:]...); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(dir, ".jp"), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files++
		}
		return err
	})
	if err != nil || files < sessions*(results+3) {
		t.Fatalf("there are %d files, %v; want %d or more", files, err, sessions*(results+3))
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	calls := func(name string) int { return strings.Count(string(data), " "+name+"(") }
	opens, syncs, volumes := calls("openat"), calls("fsync"), calls("syncfs")
	t.Logf("%d files: %d opens, %d syncs of a file and %d of all", files, opens, syncs, volumes)
	if most := 12 * files; opens > most {
		t.Errorf("%d opens for %d files, want at most %d", opens, files, most)
	}
	// Blobs before and after they have their names, conversations likewise.
	if most := 4; volumes > 0 && (syncs > 0 || volumes > most) {
		t.Errorf("%d syncs and %d of all, want none and at most %d", syncs, volumes, most)
	}
}

// longSession returns a session of Claude Code in which one tool returned so many results.
func longSession(number, results int) []byte {
	var out strings.Builder
	at := time.Date(2026, 5, 2, 10, 0, 0, 0, time.UTC)
	line := func(kind, message string, n int) {
		fmt.Fprintf(&out, `{"type":%q,"uuid":"%08d-0000-4000-8000-%012d","sessionId":"s%d","cwd":"/w",`+
			`"timestamp":%q,"message":%s}`+"\n", kind, number, n, number,
			at.Add(time.Duration(n)*time.Second).Format(time.RFC3339), message)
	}
	line("user", `{"role":"user","content":"Look"}`, 1)
	for i := range results {
		line("assistant", fmt.Sprintf(`{"id":"m%d","model":"claude-x","content":[{"type":"tool_use",`+
			`"id":"t%d","name":"Bash","input":{"command":"ls"}}]}`, i, i), 2*i+2)
		line("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d",`+
			`"content":"result %d of %d%s"}]}`,
			i, i, number, strings.Repeat(".", 9000)), 2*i+3) // too long for the stream
	}
	return []byte(out.String())
}
