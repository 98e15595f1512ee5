package importer

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
)

// TestFoundBySum checks that a session belongs to the working tree if its agent recorded only the
// hash of where it ran, as Gemini CLI did at first, and that other ones belong nowhere.
func TestFoundBySum(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, link, filepath.Join(root, "elsewhere")} {
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(dir)))
		chats := filepath.Join(home, ".gemini", "tmp", sum, "chats")
		if err := os.MkdirAll(chats, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"sessionId":%q,"projectHash":%q,"messages":[]}`, dir, sum)
		if err := os.WriteFile(filepath.Join(chats, "session-a.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	places := sessions.Places{Home: home, Getenv: func(string) string { return "" }}
	for at, want := range map[string]int{root: 1, link: 2, home: 0} {
		found, foreign := Find(t.Context(), places, Selection{
			Agents: []sessions.Agent{sessions.Gemini}, Root: at,
		})
		for _, f := range found {
			if f.Err != nil || f.Dir != at {
				t.Errorf("%s: it ran in %q, %v", at, f.Dir, f.Err)
			}
		}
		if len(found) != want || foreign[""] != 3-want {
			t.Errorf("%s: %d sessions, elsewhere %v, want %d", at, len(found), foreign, want)
		}
	}
}
