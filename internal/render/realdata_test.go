package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/realdata"
)

// Real conversations render in every format, and harmlessly so for a terminal.
func TestRealConversations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realdata.Dir(t, "conversations"), "*", "events.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			c := readConversation(t, file)
			for _, f := range []Format{FormatText, FormatMarkdown, FormatJSONLines, FormatJSON} {
				o := Options{Format: f, Output: Output{Terminal: true, Width: 80, Color: true}}
				out, problems := render(t, c, o)
				harmless(t, o.Output, out)
				if len(problems) > 0 {
					t.Errorf("format %d: %v", f, problems)
				}
				if f == FormatJSON && !json.Valid([]byte(out)) {
					t.Error("the document is no JSON")
				}
				lines := strings.Count(out, "\n")
				if f == FormatJSONLines && lines != c.Stream.Len() {
					t.Errorf("%d lines for %d elements", lines, c.Stream.Len())
				}
			}
		})
	}
}

func readConversation(t testing.TB, file string) Conversation {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := events.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.ReadFile(filepath.Join(filepath.Dir(file), "base_config.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	id, ok := events.ParseDirname(filepath.Base(filepath.Dir(file)))
	if !ok {
		t.Fatalf("%s names no conversation", file)
	}
	return Conversation{ID: id, Stream: stream, Base: base}
}

func BenchmarkRender(b *testing.B) {
	dir := realdata.Dir(b, "conversations", "17800836875-jp-init-xdg-directory-issue-on-linux")
	c := readConversation(b, filepath.Join(dir, "events.json"))
	for name, o := range map[string]Options{
		"terminal": {Output: Output{Terminal: true, Width: 80, Color: true}},
		"plain":    {},
		"json":     {Format: FormatJSONLines},
		"markdown": {Format: FormatMarkdown},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				out, _ := render(b, c, o)
				b.SetBytes(int64(len(out)))
			}
		})
	}
}
