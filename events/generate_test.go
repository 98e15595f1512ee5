package events_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"pgregory.net/rapid"
)

// memory is a store of blobs in memory.
type memory map[blobs.Hash][]byte

func (m memory) Write(b []byte) (blobs.Ref, error) {
	ref := blobs.RefTo(b)
	m[ref.Hash] = b
	return ref, nil
}

func (m memory) Read(ref blobs.Ref) ([]byte, error) {
	b, ok := m[ref.Hash]
	if !ok || int64(len(b)) != ref.Size {
		return nil, fmt.Errorf("no blob %s", ref)
	}
	return b, nil
}

// A generator writes random streams: JSON text as jp, git jp, or people write it.
type generator struct {
	*rapid.T
	store  memory
	strict bool // only what jp keeps when it saves: no unknown members, few number spellings
}

func (g generator) pick(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(g.T, label)
}

func (g generator) chance(label string) bool { return rapid.Bool().Draw(g.T, label) }

func (g generator) string(label string) string {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z \n]{0,12}`),
		rapid.SampledFrom([]string{
			"", "test", "LS0-IA==", "\u2028\x00", "<&>\"\\/", "[]", "🎉\n\n",
		}),
	).Draw(g.T, label)
}

func (g generator) bytes(label string) []byte {
	if g.chance(label + " binary") {
		return rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(g.T, label)
	}
	return []byte(g.string(label))
}

// spell writes s as a JSON string, sometimes with unnecessary escapes.
func (g generator) spell(s string) string {
	q := Quote(s)
	if g.chance("odd spelling") && !strings.Contains(q, `\u`) {
		q = strings.NewReplacer("$", `\u0024`, "a", `\u0061`, "/", `\/`).Replace(q)
	}
	return q
}

func (g generator) ref(b []byte) string {
	ref, _ := g.store.Write(b)
	return fmt.Sprintf(`{%s: "%s", "size":%d}`, g.spell("$blob"), ref.Hash, ref.Size)
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// content writes a content object.
func (g generator) content(label string) string {
	switch g.pick(label+" form", "reference", "text", "binary") {
	case "reference":
		return g.ref(g.bytes(label))
	case "text":
		return `{"text": ` + g.spell(g.string(label)) + `}`
	default:
		return `{"blob":"` + b64(g.bytes(label)) + `"}`
	}
}

func (g generator) formatted() string {
	if g.chance("bare formatted") {
		return g.spell(g.string("formatted"))
	}
	return g.content("formatted")
}

func (g generator) resource() string {
	ms := []string{`"uri": ` + g.spell("file:///$WORKSPACE/"+g.string("path"))}
	if g.chance("has type") {
		mime := g.pick("type", "text/plain", "image/png", "image/svg+xml")
		ms = append(ms, `"mimeType":`+Quote(mime))
	}
	switch g.pick("resource form", "wrapped", "bare text", "bare blob", "none") {
	case "wrapped":
		ms = append(ms, `"content": `+g.content("resource"))
	case "bare text":
		ms = append(ms, `"text":`+g.spell(g.string("resource")))
	case "bare blob":
		ms = append(ms, `"blob":"`+b64(g.bytes("resource"))+`"`)
	}
	for _, name := range []string{"name", "title"} {
		if g.chance("has " + name) {
			ms = append(ms, Quote(name)+":"+g.spell("x"+g.string(name)))
		}
	}
	if g.chance("annotated") {
		ms = append(ms, `"annotations": {"priority": 1, "audience": ["user"]}`)
	}
	return g.object(ms, true)
}

func (g generator) attachment() string {
	r := g.resource()
	if g.chance("formatted inside") {
		r = strings.TrimSuffix(r, "}") + `,"formatted":` + g.formatted() + "}"
	}
	return r
}

func (g generator) block() string {
	switch g.pick("block", "text", "bare", "resource", "question", "image", "link", "unknown") {
	case "text":
		return g.object([]string{`"type":"text"`, `"content":` + g.content("text")}, true)
	case "bare":
		return g.object([]string{`"type":"text"`, `"text":` + g.spell(g.string("text"))}, true)
	case "resource":
		ms := []string{`"type":"resource"`, `"resource":` + g.resource()}
		if g.chance("formatted beside") {
			ms = append(ms, `"formatted":`+g.formatted())
		}
		return g.object(ms, true)
	case "question":
		return g.object([]string{
			`"type":"question"`,
			`"question":{"id":"q","text":` + g.spell(g.string("question")) +
				`,"schema":{"type":"boolean"}}`,
		}, true)
	case "image":
		media := g.pick("media", "image", "audio")
		ms := []string{`"type":"` + media + `"`, `"mimeType":"image/png"`}
		if g.chance("bare image") {
			return g.object(append(ms, `"data":"`+b64(g.bytes("image"))+`"`), true)
		}
		return g.object(append(ms, `"content":`+g.content("image")), true)
	case "link":
		return g.object([]string{`"type":"resource_link"`, `"uri":"u"`, `"name":"n"`}, true)
	default:
		return g.object([]string{`"type":"video"`, `"content":{"text":"opaque"}`, `"n":[1]`}, true)
	}
}

// object joins members in any order, and sometimes adds an unknown one if that is allowed.
func (g generator) object(ms []string, mayHaveMore bool) string {
	if mayHaveMore && g.chance("unknown member") {
		ms = append(ms, g.pick("more", `"x_new":{"a":[1,{}],"b":"c"}`, `"x_new": null`))
	}
	ms = rapid.Permutation(ms).Draw(g.T, "order")
	space := g.pick("space", "", " ", "\n\t", "\r\n  ")
	return "{" + space + strings.Join(ms, space+","+space) + space + "}"
}

func (g generator) metadata() string {
	return fmt.Sprintf(`{"sig": %s, "list":[%s, 3, null, {"k":true}]}`,
		Quote(b64([]byte(g.string("signature")))), Quote(b64([]byte(g.string("item")))))
}

func (g generator) result() string {
	switch g.pick("result", "legacy", "url-safe", "literal", "blocks", "blocks", "blocks") {
	case "legacy":
		return Quote(b64([]byte(g.string("result"))))
	case "url-safe":
		return Quote(base64.URLEncoding.EncodeToString([]byte(g.string("result"))))
	case "literal":
		return g.spell(g.string("result"))
	}
	blocks := make([]string, rapid.IntRange(0, 3).Draw(g.T, "blocks"))
	for i := range blocks {
		blocks[i] = g.block()
	}
	return "[" + strings.Join(blocks, ", ") + "]"
}

var kinds = []string{
	"turn_start", "chat_request", "chat_response", "tool_call_request", "tool_call_response",
	"tool_call_response", "inquiry_request", "inquiry_response", "config_delta", "compaction",
	"new_kind",
}

func (g generator) element() string {
	kind := g.pick("kind", kinds...)
	at := time.Unix(rapid.Int64Range(0, 2e9).Draw(g.T, "time"), 1e6).UTC()
	stamp := at.Format("2006-01-02 15:04:05.999")
	if g.chance("RFC 3339") {
		stamp = at.Format(time.RFC3339Nano)
	}
	ms := []string{`"type": ` + Quote(kind), `"timestamp":` + Quote(stamp)}
	ms = append(ms, g.payload(kind)...)
	isEvent := kind != "config_delta" && kind != "compaction" && kind != "new_kind"
	if isEvent && g.chance("has metadata") {
		ms = append(ms, `"metadata":`+g.metadata())
	}
	return g.object(ms, !g.strict && kind != "turn_start")
}

func (g generator) payload(kind string) []string {
	id := `"id": "` + g.pick("id", "a", "b") + `"`
	switch kind {
	case "chat_request":
		ms := []string{`"content": ` + g.spell(g.string("content"))}
		if g.chance("has resources") {
			ms = append(ms, `"resources":[`+g.attachment()+`,`+g.attachment()+`]`)
		}
		return ms
	case "chat_response":
		return []string{
			g.pick("form", `"message":"m"`, `"reasoning": "r\/"`, `"data": {"b":1,"a":null}`),
		}
	case "tool_call_request":
		args := `{"path":` + Quote(b64([]byte(g.string("argument")))) + `,"n":[1, "eA=="]}`
		return []string{id, `"name":"tool"`, `"arguments":` + args}
	case "tool_call_response":
		return []string{id, `"content":` + g.result(), `"is_error":false`}
	case "inquiry_request":
		return []string{
			id, `"source":{"source":"tool","name":"t"}`,
			`"question":{"text":"q","answer_type":{"type":"boolean"},"default":true}`,
		}
	case "inquiry_response":
		return []string{id, `"answer":true`}
	case "config_delta":
		return []string{`"delta":{"a":{"b":[1]}}`}
	case "compaction":
		return []string{`"from_turn":0`, `"to_turn":2`, g.pick("policy",
			`"summary":{"summary":"s"}`, `"reasoning":"strip"`, `"tool_calls":{"policy":"omit"}`)}
	case "new_kind":
		return []string{`"x":{"$blob":"` + blobs.Sum(nil).String() + `"}`}
	default:
		return nil
	}
}

// stream writes a stream and returns it with its decoded form.
func (g generator) stream() (string, *events.Stream) {
	elements := make([]string, rapid.IntRange(0, 6).Draw(g.T, "elements"))
	for i := range elements {
		elements[i] = g.element()
	}
	space := g.pick("separator", "", "\n  ", "\r\n", " \t")
	text := space + "[" + space + strings.Join(elements, space+","+space) + space + "]" + space
	s, err := events.Decode([]byte(text))
	if err != nil {
		g.Fatalf("decode %s: %v", text, err)
	}
	return text, s
}

func property(t *testing.T, strict bool, f func(g generator)) {
	t.Helper()
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) { f(generator{rt, memory{}, strict}) })
}

// sameElements fails unless the streams are equal element by element.
func (g generator) sameElements(what string, a, b *events.Stream) {
	g.Helper()
	if a.Len() != b.Len() {
		g.Fatalf("%s: %d elements became %d", what, a.Len(), b.Len())
	}
	for i, e := range a.All() {
		if !events.Equal(e, b.At(i)) {
			g.Fatalf("%s: element %d was\n%s\nand became\n%s", what, i, e.Raw(), b.At(i).Raw())
		}
		if e.Sum() != b.At(i).Sum() {
			g.Fatalf("%s: element %d is equal and has another sum", what, i)
		}
	}
}
