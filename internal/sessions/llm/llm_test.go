package llm_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/llm"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
)

const database = "testdata/logs.db"

func listed(t *testing.T, path string) map[string]sessions.Session {
	t.Helper()
	return sessionstest.List(t, llm.Dialect{}, path)
}

func TestRead(t *testing.T) {
	all := listed(t, database)
	if len(all) != 4 {
		t.Errorf("%d conversations, want 4", len(all))
	}
	for id, s := range all {
		t.Run(id, func(t *testing.T) {
			conversations, kept := sessionstest.Read(t, llm.Dialect{}, s, sessions.Options{})
			sessionstest.Golden(t, "testdata/"+id+".golden", sessionstest.Dump(conversations, kept))
			v, ok := events.ParseImportVersion(conversations[0].Details.Labels[sessions.LabelImport])
			if !ok || v.Length != s.Length {
				t.Errorf("version %+v, want length %d as listed", v, s.Length)
			}
		})
	}
}

// TestRequestsAreKept checks that what a question asked for is kept, and so is what only the request
// as it was sent has.
func TestRequestsAreKept(t *testing.T) {
	all := listed(t, database)
	for id, said := range map[string][]string{
		"01z": {"said A", "said B", "said C", "said D"}, "02thread": {"said E"},
	} {
		conversations, _ := sessionstest.Read(t, llm.Dialect{}, all[id], sessions.Options{})
		text := string(conversations[0].Stream.Encode())
		for _, s := range said {
			if strings.Count(text, s) != 1 {
				t.Errorf("%s: %q stands %d times, want once", id, s, strings.Count(text, s))
			}
		}
	}
}

// TestForkShares checks that a fork has the shared turns under the same keys, at the same times.
func TestForkShares(t *testing.T) {
	all := listed(t, database)
	keys := func(id string) map[string]string {
		found := map[string]string{}
		conversations, _ := sessionstest.Read(t, llm.Dialect{}, all[id], sessions.Options{})
		for _, e := range conversations[0].Stream.All() {
			if key, ok := e.Metadata().Text(sessions.MetadataSource); ok {
				found[key] = e.Time().String()
			}
		}
		return found
	}
	thread, shared := keys("02thread"), 0
	for key, at := range keys("03fork") {
		if was, ok := thread[key]; ok && was == at {
			shared++
		}
	}
	if shared != 3 {
		t.Errorf("%d events are shared, want the question, the thought and the answer", shared)
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, variable, value string }{
		{".config/io.datasette.llm", "", ""},
		{"Library/Application Support/io.datasette.llm", "", ""},
		{"other", "LLM_USER_PATH", "other"},
		{"xdg/io.datasette.llm", "XDG_CONFIG_HOME", "xdg"},
	} {
		dir := filepath.Join(home, c.dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "logs.db"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		for s, err := range (llm.Dialect{}).Find(t.Context(), sessions.Places{
			Home: home, Getenv: func(name string) string {
				if name == c.variable {
					return filepath.Join(home, c.value)
				}
				return ""
			},
		}) {
			if err != nil || s.Dir != "" {
				t.Errorf("%+v: %v", s, err)
			}
			n++
		}
		if n != 4 {
			t.Errorf("%s: %d conversations, want 4", c.dir, n)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGone(t *testing.T) {
	s := sessions.Session{Name: sessions.Name{Agent: sessions.LLM, ID: "none"}, Path: database}
	_, err := llm.Dialect{}.Read(t.Context(), s, 0, sessions.NewBuilder(s, sessions.Options{}))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a conversation that is gone: %v", err)
	}
}

// TestOtherDatabase checks that a database of another program is named.
func TestOtherDatabase(t *testing.T) {
	for _, name := range []string{
		"../../sqlite/testdata/rows.db", "../opencode/testdata/session.db",
	} {
		all, err := llm.Dialect{}.List(t.Context(), name)
		if !errors.Is(err, sessions.ErrOther) || len(all) != 0 {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
}
