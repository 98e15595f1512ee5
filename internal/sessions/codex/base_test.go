package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/klauspost/compress/zstd"
)

// threadOf returns a thread of one turn, which begins with the first bytes of another.
func threadOf(id, base string, end int) string {
	meta := ""
	if base != "" {
		meta = fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_byte_offset":%d}`, base, end)
	}
	return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta",`+
		`"payload":{"id":%q,"cwd":"/w"%s}}`+"\n"+
		`{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg",`+
		`"payload":{"type":"user_message","message":"asked in %s"}}`+"\n", id, meta, id)
}

// TestForksBegin checks that a fork begins with what Codex did not copy, as long as it is there,
// and with nothing that the other thread said since.
func TestForksBegin(t *testing.T) {
	a, day := threadOf("a", "", 0), "sessions/2026/01/01/rollout-x-"
	b := threadOf("b", "a", len(a))
	c := threadOf("c", "b", len(b))
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := string(enc.EncodeAll([]byte(a), nil))
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"each begins with the one before": {map[string]string{day + "a.jsonl": a, day + "b.jsonl": b}, "abc"},
		"the others went on":              {map[string]string{day + "a.jsonl": a + threadOf("later", "", 0), day + "b.jsonl": b + "{}\n"}, "abc"},
		"another day, and packed":         {map[string]string{"sessions/2025/12/31/rollout-x-a.jsonl.zst": packed, day + "b.jsonl": b}, "abc"},
		"in a directory that is no text":  {map[string]string{"sessions/\xff/12/31/rollout-x-a.jsonl": a, day + "b.jsonl": b}, "abc"},
		"archived":                        {map[string]string{"archived_sessions/rollout-x-a.jsonl": a, day + "b.jsonl": b}, "abc"},
		"one is gone":                     {map[string]string{day + "b.jsonl": b}, "bc"},
		"all are gone":                    {nil, "c"},
		"another thread has its name":     {map[string]string{day + "b.jsonl": threadOf("d", "", 0)}, "c"},
		"in a circle":                     {map[string]string{day + "b.jsonl": threadOf("b", "c", 500)}, "bc"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if name == "in a directory that is no text" && runtime.GOOS != "linux" {
				t.Skip("this system may have no such name")
			}
			for name, data := range test.files {
				write(t, filepath.Join(dir, name), data)
			}
			path := filepath.Join(dir, day+"c.jsonl")
			write(t, path, c)
			all, _ := sessionstest.Import(t, Dialect{}, path, 0)
			var got strings.Builder
			for line := range strings.Lines(string(all[0].Stream.Encode())) {
				if _, said, ok := strings.Cut(line, `"content": "asked in `); ok {
					got.WriteString(said[:strings.Index(said, `"`)])
				}
			}
			if got.String() != test.want {
				t.Errorf("the fork says %q, want %q", got.String(), test.want)
			}
			if n := all[0].Name; n != (sessions.Name{Agent: sessions.Codex, ID: "c"}) {
				t.Errorf("it is %s", n)
			}
		})
	}
}

// TestForkNamesNoFile checks that the id of a thread leads to no other directory.
func TestForkNamesNoFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x-secret.jsonl"), threadOf("/../../x-secret", "", 0))
	write(t, filepath.Join(dir, "below", "a-b.jsonl"), threadOf("b", "", 0))
	write(t, filepath.Join(dir, "below", "y-", "z"), "")
	path := filepath.Join(dir, "below", "c.jsonl")
	for _, id := range []string{"/../../x-secret", "*"} {
		write(t, path, threadOf("c", id, 1000))
		if all := bases(path, func(string) bool { return true }); len(all) != 0 {
			t.Errorf("%q leads to %v", id, all)
		}
	}
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}
