package repair_test

import (
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
	"pgregory.net/rapid"
)

// TestMain shortens the property, because each of its cases waits for the disk.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("GIT_JP_SOAK") == "" {
		if err := flag.Set("rapid.checks", "20"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// A checker is a test, or one check of a property.
type checker interface {
	rapid.TB
	Cleanup(f func())
}

func open(t checker, root string, format workspace.Format) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(root, workspace.Env{
		Getenv: func(string) string { return "" }, Now: time.Now, Dir: root,
		Settings: workspace.Settings{Format: format},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func entries(t checker, w *workspace.Workspace) []workspace.Entry {
	t.Helper()
	all, _, err := w.List(workspace.ListOptions{Archived: true})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// migrate converts everything below root to a format and returns the results.
func migrate(t checker, root string, to workspace.Format, dry bool) []repair.Migrated {
	t.Helper()
	w := open(t, root, to)
	results, err := repair.Migrate(context.Background(), w, entries(t, w), repair.MigrateOptions{DryRun: dry})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Errorf("migrate %s to %s: %v", r.Entry.ID, to, r.Err)
		}
	}
	return results
}

// tree returns every file below root.
func tree(t checker, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t checker, root, name, data string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeConversation writes a conversation in jp's own form with these results.
func writeConversation(t checker, root string, id int, results []string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("[\n  {\n    \"timestamp\": \"2026-01-01 00:00:00.0\",\n    \"type\": \"turn_start\"\n  },\n" +
		"  {\n    \"timestamp\": \"2026-01-01 00:00:00.0\",\n    \"type\": \"chat_request\",\n    \"content\": \"q\"\n  }")
	for i, r := range results {
		fmt.Fprintf(&b, ",\n  {\n    \"timestamp\": \"2026-01-01 00:00:01.0\",\n    \"type\": \"tool_call_request\",\n"+
			"    \"id\": \"c%[1]d\",\n    \"name\": \"t\",\n    \"arguments\": {}\n  },\n"+
			"  {\n    \"timestamp\": \"2026-01-01 00:00:01.0\",\n    \"type\": \"tool_call_response\",\n"+
			"    \"id\": \"c%[1]d\",\n    \"content\": %[2]q,\n    \"is_error\": false\n  }",
			i, base64.StdEncoding.EncodeToString([]byte(r)))
	}
	b.WriteString("\n]\n")
	dir := fmt.Sprintf(".jp/conversations/%d-x/", id)
	write(t, root, dir+"events.json", b.String())
	write(t, root, dir+"metadata.json", "{\n  \"title\": \"x\",\n  \"last_activated_at\": \"2026-01-01 00:00:00.0\"\n}\n")
	write(t, root, dir+"base_config.json", "{}\n")
}

func TestThereAndBackIsTheSameBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "same", "a\x00b", "é\u2028"}))
		for i := range rapid.IntRange(1, 3).Draw(rt, "conversations") {
			writeConversation(rt, root, 17000000000+i, rapid.SliceOfN(text, 0, 4).Draw(rt, "results"))
		}
		before := tree(rt, filepath.Join(root, ".jp", "conversations"))
		migrate(rt, root, workspace.FormatBlobs, false)
		for path, data := range tree(rt, filepath.Join(root, ".jp", "conversations")) {
			if strings.HasSuffix(path, "events.json") && before[path] == data &&
				strings.Contains(data, "tool_call_response") {
				rt.Fatalf("%s has not changed", path)
			}
		}
		migrate(rt, root, workspace.FormatInline, false)
		after := tree(rt, filepath.Join(root, ".jp", "conversations"))
		if len(after) != len(before) {
			rt.Fatalf("%d files became %d", len(before), len(after))
		}
		for path, data := range before {
			if after[path] != data {
				rt.Fatalf("%s came back as\n%s\nwant\n%s", path, after[path], data)
			}
		}
	})
}

func TestDryRunSaysWhatHappensAndWritesNothing(t *testing.T) {
	root := t.TempDir()
	writeConversation(t, root, 17000000000, []string{"shared", strings.Repeat("long ", 1000)})
	writeConversation(t, root, 17000000001, []string{"shared"})
	before := tree(t, root)
	dry := migrate(t, root, workspace.FormatBlobs, true)
	after := tree(t, root)
	for path := range after {
		if before[path] != after[path] && !strings.Contains(path, "locks/") {
			t.Errorf("a dry run has written %s", path)
		}
	}
	done := migrate(t, root, workspace.FormatBlobs, false)
	for i := range done {
		if dry[i] != done[i] {
			t.Errorf("dry run: %+v\ndone:    %+v", dry[i], done[i])
		}
	}
	if done[0].Blobs != 2 || done[1].Blobs != 0 || done[1].Contents != 1 {
		t.Errorf("got %+v and %+v, want the shared content stored once", done[0], done[1])
	}
	for _, m := range migrate(t, root, workspace.FormatBlobs, false) {
		if m.Contents != 0 || m.Blobs != 0 || m.Before != m.After {
			t.Errorf("a second run did something: %+v", m)
		}
	}
}

func TestOneDamagedConversationStopsNoOther(t *testing.T) {
	root := t.TempDir()
	writeConversation(t, root, 17000000000, []string{"a"})
	writeConversation(t, root, 17000000001, []string{"b"})
	write(t, root, ".jp/conversations/17000000000-x/events.json", "[{]\n")
	w := open(t, root, workspace.FormatBlobs)
	results, err := repair.Migrate(context.Background(), w, entries(t, w), repair.MigrateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Err == nil || results[1].Err != nil || results[1].Contents != 1 {
		t.Errorf("got %+v, want an error and a migration", results)
	}
	if got := tree(t, root)[".jp/conversations/17000000000-x/events.json"]; got != "[{]\n" {
		t.Errorf("the damaged stream was changed to %q", got)
	}
}

func TestInterruptedMigrationIsFinishedByTheNext(t *testing.T) {
	const n = 20
	root := t.TempDir()
	for i := range n {
		writeConversation(t, root, 17000000000+i, []string{fmt.Sprint(i)})
	}
	w := open(t, root, workspace.FormatBlobs)
	ctx, cancel := context.WithCancel(context.Background())
	results, err := repair.Migrate(ctx, w, entries(t, w), repair.MigrateOptions{Progress: cancel})
	if err == nil || len(results) == 0 || len(results) > n/2 {
		t.Fatalf("got %d results and %v, want a few and an error", len(results), err)
	}
	finished := map[events.ID]bool{}
	for _, r := range results {
		finished[r.Entry.ID] = r.Err == nil && r.Contents == 1
	}
	for _, r := range migrate(t, root, workspace.FormatBlobs, false) {
		if again := r.Contents == 1; again == finished[r.Entry.ID] {
			t.Errorf("%s: the first run says %v, the next %+v", r.Entry.ID, finished[r.Entry.ID], r)
		}
	}
}

// TestResultsDoNotDependOnWhoIsFirst: content that several conversations share is counted for the
// first of them, even if they are migrated concurrently.
func TestResultsDoNotDependOnWhoIsFirst(t *testing.T) {
	const n = 12
	for range 5 {
		root := t.TempDir()
		for i := range n {
			// The first are the slowest.
			own := strings.Repeat(fmt.Sprint(i), 20_000*(n-i))
			writeConversation(t, root, 17000000000+i, []string{own, "shared", fmt.Sprint(i / 2)})
		}
		dry := migrate(t, root, workspace.FormatBlobs, true)
		done := migrate(t, root, workspace.FormatBlobs, false)
		for i, m := range done {
			want := 1 // its own
			if i == 0 {
				want++
			}
			if i%2 == 0 {
				want++
			}
			if int(m.Entry.ID-done[0].Entry.ID) != i || m.Blobs != want || m != dry[i] {
				t.Errorf("conversation %d: %+v and %+v in a dry run, want %d blobs", i, m, dry[i], want)
			}
		}
	}
}

// TestRealConversations checks that every real conversation is equal after a migration, and has the
// same bytes after migrating back if it was in jp's form.
func TestRealConversations(t *testing.T) {
	source := realdata.Dir(t, "conversations")
	root := t.TempDir()
	for path, data := range tree(t, source) {
		write(t, root, ".jp/conversations/"+path, data)
	}
	before := tree(t, root)
	var contents int
	for _, m := range migrate(t, root, workspace.FormatBlobs, false) {
		contents += m.Contents
		if m.Contents > 0 && m.After >= m.Before {
			t.Errorf("%s grew from %d to %d bytes", m.Entry.ID, m.Before, m.After)
		}
	}
	if contents == 0 {
		t.Error("nothing was migrated")
	}
	migrate(t, root, workspace.FormatInline, false)
	for path, data := range tree(t, root) {
		if !strings.HasSuffix(path, "events.json") || data == before[path] {
			continue
		}
		// URL-safe base64 becomes standard base64; nothing else differs.
		a, err := events.Decode([]byte(before[path]))
		if err != nil {
			t.Fatal(err)
		}
		b, err := events.Decode([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range a.All() {
			if !events.Equal(e, b.At(i)) {
				t.Errorf("%s: element %d says something else", path, i)
			}
		}
		t.Logf("%s came back with other bytes that say the same", path)
	}
}
