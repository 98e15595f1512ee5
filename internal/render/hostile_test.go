package render

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/events"
)

// A source draws hostile text in the forms that it has in JSON.
type source struct {
	t *rapid.T
	m *memory
}

func (s source) text(label string) string { return hostileText().Draw(s.t, label) }

// json is a JSON string, blob a reference, base64 an encoded string.
func (s source) json(label string) string {
	b, err := json.Marshal(s.text(label))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}
func (s source) blob(label string) string   { return s.m.put(s.text(label)) }
func (s source) base64(label string) string { return `"` + b64(s.text(label)) + `"` }

// hostile returns a conversation with hostile text wherever text can be.
func hostile(t *rapid.T) Conversation {
	s := source{t: t, m: newMemory()}
	const at = `{"timestamp":"2026-01-02 03:00:00.0","type":`
	stream, err := events.Decode([]byte("[" + strings.Join([]string{
		at + `"turn_start"}`,
		at + `"chat_request","content":` + s.json("request") + `,"author":` + s.json("author") +
			`,"resources":[{"uri":` + s.json("uri") + `,"mimeType":` + s.json("mime") +
			`,"content":` + s.blob("attachment") + `}]}`,
		at + `"chat_response","reasoning":` + s.json("reasoning") + `}`,
		at + `"chat_response","message":` + s.json("message") + `}`,
		at + `"chat_response","data":` + s.json("data") + `}`,
		at + `"tool_call_request","id":"t","name":` + s.json("tool") + `,"arguments":{"k":` +
			s.base64("argument") + `}}`,
		at + `"tool_call_response","id":"t","is_error":false,"content":[` +
			`{"type":"text","content":` + s.blob("result") + `},` +
			`{"type":` + s.json("block") + `},` +
			`{"type":"resource","resource":{"uri":` + s.json("uri") + `,"content":` +
			s.blob("raw") + `},"formatted":` + s.blob("formatted") + `}]}`,
		at + `"inquiry_request","id":"q","source":{"source":"user"},` +
			`"question":{"text":` + s.json("question") +
			`,"answer_type":{"type":"text"}}}`,
		at + `"inquiry_response","id":"q","answer":` + s.json("answer") + `}`,
		at + `"config_delta","delta":{"k":` + s.json("setting") + `}}`,
		at + `"compaction","from_turn":0,"to_turn":0,"summary":{"summary":` +
			s.json("summary") + `}}`,
		at + `"x","y":` + s.json("unknown") + `}`,
	}, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return Conversation{
		ID: 1, Title: s.text("title"), Stream: stream, Contents: s.m, Root: s.text("root"),
		Base: []byte(`{"assistant":{"model":{"id":` + s.json("model") + `}}}`),
	}
}

func testConversationsAreHarmless(t *rapid.T) {
	c := hostile(t)
	o := Options{
		Output: drawOutput(t),
		Format: Format(rapid.IntRange(0, 3).Draw(t, "format")),
		Style:  Style(rapid.IntRange(0, 3).Draw(t, "style")),
		Full:   rapid.Bool().Draw(t, "full"),
	}
	var b strings.Builder
	problems, err := c.Render(&b, o)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	harmless(t, o.Output, b.String())
	if o.Format == FormatJSON && !json.Valid([]byte(b.String())) {
		t.Fatalf("no JSON: %s", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if o.Format == FormatJSONLines && !json.Valid([]byte(line)) {
			t.Fatalf("no JSON: %s", line)
		}
	}
}

func TestConversationsAreHarmless(t *testing.T) { rapid.Check(t, testConversationsAreHarmless) }

func FuzzConversationsAreHarmless(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(testConversationsAreHarmless))
}

// JSON for a terminal means the same as JSON for a file.
func TestTerminalJSONMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := hostile(t)
		read := func(o Output) (v any) {
			var b strings.Builder
			if _, err := c.Render(&b, Options{Format: FormatJSON, Output: o}); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(b.String()), &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		if diff := cmp.Diff(read(Output{}), read(Output{Terminal: true})); diff != "" {
			t.Fatal(diff)
		}
	})
}
