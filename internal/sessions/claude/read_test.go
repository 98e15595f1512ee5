package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
)

const uuid = "00000000-0000-4000-8000-00000000000"

func line(kind string, n int, message string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":"%s%d","sessionId":"s","cwd":"/w",`+
		`"timestamp":"2026-05-02T10:00:0%dZ","message":%s}`+"\n", kind, uuid, n, n, message)
}

func list(t *testing.T, lines ...string) sessions.Session {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := Dialect{}.List(t.Context(), file)
	if err != nil || len(found) != 1 {
		t.Fatalf("found %d sessions, %v; want one", len(found), err)
	}
	return found[0]
}

// TestRecordsOfOneUUID checks that a repeated record is dropped, and that a different record with
// the same uuid is kept under a key of its own.
func TestRecordsOfOneUUID(t *testing.T) {
	ask := line("user", 1, `{"role":"user","content":"first"}`)
	other := line("user", 1, `{"role":"user","content":"second"}`)
	all, kept := sessionstest.Read(t, Dialect{}, list(t, ask, ask, other, ask, other),
		sessions.Options{Root: "/w"})
	got := sessionstest.Dump(all, kept)
	for text, want := range map[string]int{"first": 1, "second": 1} {
		if n := strings.Count(got, `ask "`+text+`"`); n != want {
			t.Errorf("%q stands %d times, want %d, in\n%s", text, n, want, got)
		}
	}
	keys := map[string]bool{}
	for _, e := range all[0].Stream.All() {
		if key, ok := e.Metadata().Text(sessions.MetadataSource); ok {
			keys[key] = true
		}
	}
	if len(keys) != 2 {
		t.Errorf("the keys are %v, want two", keys)
	}
}

// TestRequestsAreLeftOut checks that what Claude Code 2.1.332 notes of its requests, which has the
// conversation and the agent's prompt once more, is left out and counted. What it attaches to a
// prompt is a record.
func TestRequestsAreLeftOut(t *testing.T) {
	const at = `"sessionId":"s","timestamp":"2026-05-02T10:00:01Z"`
	all, kept := sessionstest.Read(t, Dialect{}, list(t,
		line("user", 1, `{"role":"user","content":"first"}`),
		`{"type":"attachment","uuid":"`+uuid+`2","attachment":{"type":"prompt_snapshot",`+
			`"systemPrompt":["Obey."]},`+at+"}\n",
		`{"type":"api-request-shape","shapeHash":"1","shape":{"system":[{"text":"Obey."}]},`+at+"}\n",
		`{"type":"api-request-blob","hash":"2","message":{"role":"user","content":"first"},`+
			`"sessionId":"s"}`+"\n",
		`{"type":"api-request","shapeHash":"1","params":{"max_tokens":1},`+at+"}\n",
		line("assistant", 3, `{"role":"assistant","content":[{"type":"text","text":"Yes."}]}`),
	), sessions.Options{Root: "/w"})
	const want = "records attachment/prompt_snapshot:1\n"
	if got := sessionstest.Dump(all, kept); !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want at its end %s", got, want)
	}
	for _, kind := range []string{"api-request", "api-request-blob", "api-request-shape"} {
		if all[0].Report.Dropped[kind] == 0 {
			t.Errorf("left out are %v and no %s", all[0].Report.Dropped, kind)
		}
	}
}

// TestLongFirstPrompt checks that a session is recognized by its first records, however long they
// are.
func TestLongFirstPrompt(t *testing.T) {
	for _, size := range []int{1 << 10, 1 << 20, 3 << 20} {
		text := strings.Repeat("x", size)
		s := list(t, `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`+"\n",
			line("user", 1, `{"role":"user","content":"Look `+text+`"}`))
		if s.Name.ID != "s" || s.Dir != "/w" || !strings.HasPrefix(s.Title, "Look xx") {
			t.Errorf("%d bytes: it is %s in %q, %q", size, s.Name, s.Dir, s.Title)
		}
	}
}

// TestFindNamesWhatItCannotRead checks that files without a session are ignored, and that
// unreadable ones are reported. The directory may be a symlink.
func TestFindNamesWhatItCannotRead(t *testing.T) {
	home, real := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(home, ".claude", "projects")); err != nil {
		t.Skip("no links here: ", err) // for some users of Windows
	}
	for name, text := range map[string]string{
		"a.jsonl": line("user", 1, `{"role":"user","content":"Look"}`), "b.jsonl": "",
		"c.jsonl": `{"type":"summary","summary":"An old one","leafUuid":"x"}` + "\n",
		"d.jsonl": "\x00\x01\n", "e.jsonl": strings.Repeat("[", 100_000) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(real, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var found, named []string
	places := sessions.Places{Home: home, Getenv: func(string) string { return "" }}
	for s, err := range (Dialect{}).Find(t.Context(), places) {
		if err != nil {
			named = append(named, filepath.Base(s.Path))
		} else {
			found = append(found, filepath.Base(s.Path))
		}
	}
	if got := fmt.Sprint(found, named); got != "[a.jsonl] [d.jsonl e.jsonl]" {
		t.Errorf("found and named %s", got)
	}
}
