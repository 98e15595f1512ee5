package capture

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestThePluginTellsWholeTurns runs opencode's plugin in Node, with a git-jp that is slow: one process
// is started for a turn, and its input ends with the turn, or with the agent.
func TestThePluginTellsWholeTurns(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plugin.mjs": opencodePlugin,
		"git-jp": `#!/bin/sh
echo "started $*" >> "$NOTES"
sleep 0.3
cat >> "$NOTES"
echo " ended" >> "$NOTES"
`,
		"turn.mjs": `import { GitJp } from "./plugin.mjs"
const plugin = await GitJp({ directory: "/" })
const tell = (type, sessionID, status) =>
  plugin.event({ event: { type, properties: { sessionID, status: { type: status } } } })
const [last] = process.argv.slice(2)
if (last !== "alone") {
  tell("session.status", "a", "busy")
  tell("session.status", "a", "retry")
  tell("session.status", "a", "busy")
  tell("message.updated", "a")
}
if (last !== "killed") tell("session.idle", "a")
else process.kill(process.pid, "SIGKILL")
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for last, event := range map[string]string{
		"ends": "session.turn", "killed": "session.turn", "alone": "session.idle",
	} {
		t.Run(last, func(t *testing.T) {
			notes := filepath.Join(t.TempDir(), "notes")
			cmd := exec.CommandContext(t.Context(), node, "turn.mjs", last)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "NOTES="+notes,
				"PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			if out, err := cmd.CombinedOutput(); (err != nil) != (last == "killed") {
				t.Fatalf("%v\n%s", err, out)
			}
			want := `started capture --hook opencode
{"session_id":"a","cwd":"/","hook_event_name":"` + event + `"} ended
`
			var got []byte
			for range 100 {
				got, _ = os.ReadFile(notes)
				if strings.HasSuffix(string(got), "ended\n") {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			if string(got) != want {
				t.Errorf("got notes\n%swant\n%s", got, want)
			}
		})
	}
}
