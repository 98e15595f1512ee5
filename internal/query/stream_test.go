package query_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/events"
	"pgregory.net/rapid"
)

// conversation draws what interrupted, merged, compacted and edited conversations contain, by the
// models of several providers: calls without a result and results without a call, repeated ids,
// results in any order, empty texts, and the metadata that providers leave.
func conversation() *rapid.Generator[*events.Stream] {
	return rapid.Custom(func(t *rapid.T) *events.Stream {
		w := &writer{t: t}
		w.model()
		for range rapid.IntRange(1, 5).Draw(t, "turns") {
			w.turn()
		}
		if rapid.Bool().Draw(t, "asked last") {
			w.start()
			w.ask()
		}
		text := "[" + strings.Join(w.elems, ",") + "]"
		s, err := events.Decode([]byte(text))
		if err != nil {
			t.Fatalf("generated stream does not decode: %v\n%s", err, text)
		}
		return s
	})
}

type writer struct {
	t     *rapid.T
	elems []string
	now   string // the provider of the current model
	n     int
}

func (w *writer) event(kind, members string) {
	w.n++
	w.elems = append(w.elems, fmt.Sprintf(`{"timestamp":"2026-01-01 00:%02d:%02d.0","type":%q%s}`,
		w.n/60%60, w.n%60, kind, members))
}

func (w *writer) pick(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(w.t, label)
}

func (w *writer) chance(label string, of int) bool {
	return rapid.IntRange(1, of).Draw(w.t, label) == 1
}

// start begins a turn, sometimes one that a merge put behind turns that it did not follow.
func (w *writer) start() {
	note := ""
	if w.chance("parallel", 5) {
		note = `,"metadata":{"git_jp_parent":[""]}`
	}
	w.event("turn_start", note)
}

// model changes the model, like a flag that is saved.
func (w *writer) model() {
	id := w.pick("model", "anthropic/claude-sonnet-4-6", "openai/gpt-5.6-sol",
		"google/gemini-3-pro", "openrouter/anthropic/claude", "ollama/qwen3:8b", "deepseek/deepseek-v4-pro",
		"mistral/mistral-small-latest")
	w.now, _, _ = strings.Cut(id, "/")
	w.event("config_delta", fmt.Sprintf(`,"delta":{"assistant":{"model":{"id":%q}}}`, id))
}

func (w *writer) turn() {
	if !w.chance("no start", 8) {
		w.start()
	}
	w.ask()
	for range rapid.IntRange(0, 4).Draw(w.t, "cycles") {
		switch rapid.IntRange(0, 7).Draw(w.t, "cycle") {
		case 0:
			w.model()
		case 1:
			w.ask()
		case 2:
			w.response(w.id())
		case 3:
			w.say()
		case 4:
			w.compact()
		default:
			w.batch()
		}
	}
	if !w.chance("no answer", 4) {
		w.say()
	}
}

func (w *writer) ask() {
	members := fmt.Sprintf(`,"content":%q`, w.pick("question", "q", "and then?", "", " \n"))
	if w.chance("attached", 3) {
		members += `,"resources":[` + w.resource() + `]`
	}
	if w.chance("schema", 6) {
		members += `,"schema":{"type":"object","properties":{"n":{"type":"integer"}},` +
			`"required":["n"],"additionalProperties":false}`
	}
	w.event("chat_request", members)
}

func (w *writer) resource() string {
	text, err := json.Marshal(strings.Repeat(w.pick("text", "x", "line\n", ""), 40))
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf(`{"uri":"file:///$WORKSPACE/%s","mimeType":"text/plain","content":{"text":%s}}`,
		w.pick("file", "a.txt", "b.txt"), text)
}

// say writes reasoning, text or data, with the metadata that the provider expects back.
func (w *writer) say() {
	switch rapid.IntRange(0, 4).Draw(w.t, "say") {
	case 0:
		w.event("chat_response", fmt.Sprintf(`,"reasoning":%q%s`,
			w.pick("thought", "hm", ""), w.proof()))
	case 1:
		w.event("chat_response", `,"data":{"n":1}`)
	default:
		w.event("chat_response", fmt.Sprintf(`,"message":%q`, w.pick("message", "m", "", "…")))
	}
}

// proof returns the metadata of reasoning, or none, as after a merge of a cut stream.
func (w *writer) proof() string {
	key := map[string]string{
		"anthropic": "anthropic_thinking_signature", "google": "google_thought_signature",
		"openai": "openai_encrypted_content",
	}[w.now]
	if key == "" || w.chance("unsigned", 4) {
		return ""
	}
	id := ""
	if w.now == "openai" {
		id = fmt.Sprintf(`,"openai_item_id":%q`, b64(fmt.Sprintf("rs_%d", w.n)))
	}
	return fmt.Sprintf(`,"metadata":{%q:%q%s}`, key, b64("proof"), id)
}

func (w *writer) batch() {
	if w.chance("thinks", 2) {
		w.event("chat_response", `,"reasoning":"hm"`+w.proof())
	}
	ids := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "toolu_1", "call:2", ""}), 1, 3).
		Draw(w.t, "batch")
	for _, id := range ids {
		w.event("tool_call_request", fmt.Sprintf(`,"id":%q,"name":%q,"arguments":{"path":%q}`,
			id, w.pick("tool", "fs_read_file", "mcp.odd name"), b64("x")))
	}
	if w.chance("mixed up", 3) {
		ids = rapid.Permutation(ids).Draw(w.t, "order")
	}
	for _, id := range ids[:rapid.IntRange(0, len(ids)).Draw(w.t, "answered")] {
		w.response(id)
	}
}

func (w *writer) id() string { return w.pick("id", "a", "b", "toolu_1") }

func (w *writer) response(id string) {
	content := fmt.Sprintf("%q", b64(w.pick("result", "ok", "")))
	if w.chance("typed", 2) {
		content = `[{"type":"text","content":{"text":"read"}},{"type":"resource","resource":` +
			w.resource() + `}]`
	}
	w.event("tool_call_response", fmt.Sprintf(`,"id":%q,"content":%s,"is_error":%t`,
		id, content, w.chance("failed", 3)))
}

func (w *writer) compact() {
	from := rapid.IntRange(0, 3).Draw(w.t, "from")
	policy := w.pick("policy", `,"summary":{"summary":"S"}`, `,"reasoning":"strip"`,
		`,"tool_calls":{"policy":"omit"}`,
		`,"tool_calls":{"policy":"strip","request":true,"response":true}`)
	w.event("compaction", fmt.Sprintf(`,"from_turn":%d,"to_turn":%d%s`, from, from+1, policy))
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
