package copilot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions/copilot"
)

// TestDirectory checks where a session ran: as its first event says, or the first that resumes it.
func TestDirectory(t *testing.T) {
	const start = `{"type":"session.start","id":"1","data":{"sessionId":"s","version":1,` +
		`"producer":"copilot-agent"`
	for _, c := range []struct{ started, want string }{
		{``, "/later"},
		{`,"context":{"cwd":"/first"}`, "/first"},
	} {
		file := filepath.Join(t.TempDir(), "events.jsonl")
		text := start + c.started + "}}\n" +
			`{"type":"user.message","id":"2","data":{"content":"And now?"}}` + "\n" +
			`{"type":"user.message","id":"3","data":{"content":"And then?"}}` + "\n" +
			`{"type":"session.resume","id":"4","data":{"context":{"cwd":"/later"}}}` + "\n" +
			`{"type":"session.resume","id":"5","data":{"context":{"cwd":"/last"}}}` + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := copilot.Dialect{}.List(t.Context(), file)
		if err != nil || len(found) != 1 || found[0].Dir != c.want ||
			found[0].Title != "And now?" {
			t.Errorf("%s: found %+v, %v", c.want, found, err)
		}
	}
}
