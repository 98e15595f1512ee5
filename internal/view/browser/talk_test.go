package browser

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A talk makes a conversation as jp writes it.
type talk struct {
	at     time.Time
	events []map[string]any
}

func newTalk() *talk {
	return &talk{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (k *talk) add(kind string, members map[string]any) {
	k.at = k.at.Add(time.Second)
	members["timestamp"], members["type"] = k.at.Format("2006-01-02 15:04:05.0"), kind
	k.events = append(k.events, members)
}

func (k *talk) ask(text string) {
	k.add("turn_start", map[string]any{})
	k.add("chat_request", map[string]any{"content": text, "author": "Ada"})
}

func (k *talk) say(text string) { k.add("chat_response", map[string]any{"message": text}) }

func (k *talk) call(name string, args map[string]any, result string) {
	id := k.at.String()
	encoded := map[string]any{}
	for key, v := range args {
		encoded[key] = base64.StdEncoding.EncodeToString([]byte(v.(string)))
	}
	k.add("tool_call_request", map[string]any{"id": id, "name": name, "arguments": encoded})
	k.add("tool_call_response", map[string]any{
		"id": id, "content": base64.StdEncoding.EncodeToString([]byte(result)), "is_error": false,
	})
}

func (k *talk) write(t *testing.T, root, id, title string) {
	t.Helper()
	dir := filepath.Join(root, ".jp", "conversations", id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{
		"events.json":   k.events,
		"metadata.json": map[string]any{"title": title, "last_activated_at": "2026-01-01 00:00:00.0"},
	} {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// identify gives the workspace its id, which completes it.
func identify(t *testing.T, root string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, ".jp", ".id"), []byte("ab12c"), 0o644); err != nil {
		t.Fatal(err)
	}
}
