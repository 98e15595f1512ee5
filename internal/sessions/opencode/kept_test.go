package opencode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/opencode"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/google/go-cmp/cmp"
)

// TestCompactionKeepsTheEnd checks that a compaction covers nothing of what opencode still gives the
// model: from a prompt on, or from an answer in the middle of a turn. What was undone before it is
// found although that turn was divided.
func TestCompactionKeepsTheEnd(t *testing.T) {
	for name, test := range map[string]struct {
		tail, revert string
		want         string
	}{
		"from a prompt":            {"msg_03", "", "One/first Two/look/done <0 Three/end"},
		"from an open prompt":      {"msg_03", "", "One/first Two <0 Three/end"},
		"from an answer":           {"msg_05", "", "One/first Two/look Continue./done <1 Three/end"},
		"of nothing that is there": {"msg_99", "", "One/first Two/look/done <1 Three/end"},
		"undone":                   {"msg_05", "msg_08", "One/first Two/look Continue./done <1"},
		"undone before":            {"msg_05", "msg_05", "One/first Two/look"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			add := func(n int, role, part, text string) {
				id := fmt.Sprintf("msg_%02d", n)
				for _, sub := range []string{"message/ses_x", "part/" + id, "session/proj"} {
					if err := os.MkdirAll(filepath.Join(dir, "storage", sub), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				write(t, filepath.Join(dir, "storage/message/ses_x", id+".json"), fmt.Sprintf(
					`{"id":%q,"role":%q,"modelID":"m","summary":%t,"time":{"created":%d}}`,
					id, role, part == "summary", 1767225600000+n))
				write(t, filepath.Join(dir, "storage/part", id, fmt.Sprintf("prt_1%02d.json", n)),
					strings.ReplaceAll(text, "ID", fmt.Sprintf("prt_1%02d", n)))
			}
			said := func(text string) string { return fmt.Sprintf(`{"id":"ID","type":"text","text":%q}`, text) }
			texts := []string{"One", "first", "Two", "look", "done"}
			if name == "from an open prompt" { // nothing answered it
				texts = texts[:3]
			}
			for i, text := range texts {
				role := map[bool]string{true: "user", false: "assistant"}[i == 0 || i == 2]
				add(i+1, role, "", said(text))
			}
			add(6, "user", "", fmt.Sprintf(`{"id":"ID","type":"compaction","tail_start_id":%q}`, test.tail))
			add(7, "assistant", "summary", said("short"))
			add(8, "user", "", said("Three"))
			add(9, "assistant", "", said("end"))
			path := filepath.Join(dir, "storage/session/proj/ses_x.json")
			write(t, path, fmt.Sprintf(`{"id":"ses_x","directory":"/w","revert":{"messageID":%q}}`, test.revert))
			all, _ := sessionstest.Read(t, opencode.Dialect{}, listed(t, path)["ses_x"], sessions.Options{Root: "/w"})
			got := ""
			for _, e := range all[0].Stream.All() {
				switch v := e.Event().(type) {
				case *events.TurnStart:
					got += " "
				case *events.ChatRequest:
					got += v.Content
				case *events.ChatResponse:
					got += "/" + v.Text
				case *events.Compaction:
					got += fmt.Sprintf(" <%d", v.ToTurn)
				}
			}
			got = strings.TrimSpace(got)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
