package events_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

func TestContentForms(t *testing.T) {
	url := base64.URLEncoding.EncodeToString([]byte("a???>>>"))
	ref := `{"size":6,"$blob":"` + hash + `"}`
	tests := []struct{ name, content, want string }{
		{"legacy", `"aGVsbG8K"`, `text "hello\n" legacy`},
		{"legacy with escapes", `"aGVs\u0062G8K"`, `text "hello\n" legacy`},
		{"legacy literal", `"not base64"`, `text "not base64" legacy`},
		{"legacy, URL-safe", Quote(url), `text "a???>>>" legacy`},
		{"legacy, both alphabets", `"-+__"`, `text "-+__" legacy`},
		{"reference", `[{"type":"text","content":` + ref + `}]`, `text -> 6`},
		{"text", `[{"type":"text","content":{"text":"a\u0000"}}]`, `text "a\x00"`},
		{"text with a stale size", `[{"type":"text","content":{"size":9,"text":"a"}}]`, `text "a"`},
		{"binary", `[{"type":"text","content":{"blob":"/w=="}}]`, `text "\xff"`},
		{"bare text", `[{"type":"text","text":"a"}]`, `text "a"`},
		{"nameless member", `[{"type":"text","text":"a","":""}]`, `text "a"`},
		{"nameless member of an image", `[{"":"a","type":"image","data":"/w=="}]`, `image "\xff"`},
		{
			"resource", `[{"type":"resource","formatted":` + ref +
				`,"resource":{"uri":"u","content":` + ref + `}}]`,
			`resource u -> 6; formatted u -> 6`,
		},
		{
			"bare resource",
			`[{"type":"resource","formatted":"f","resource":{"uri":"u","blob":"/w=="}}]`,
			`resource u "\xff"; formatted u "f"`,
		},
		{"resource without content", `[{"type":"resource","resource":{"uri":"u"}}]`, ``},
		{
			"image and audio",
			`[{"type":"image","data":"/w==","mimeType":"image/png"},{"type":"audio","content":` +
				ref + `}]`,
			`image "\xff"; audio -> 6`,
		},
		{"no blocks", `[]`, ``},
		{
			"others",
			`[{"type":"question","question":{"text":"q"}},{"type":"resource_link","uri":"u"},` +
				`{"type":"x","text":1}]`,
			``,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for c := range decode(t, result(tt.content)).Contents() {
				if c.Element != 1 || c.Call != "a" || c.Turn != 0 {
					t.Errorf("place is %+v", c)
				}
				got = append(got, describe(c))
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

func describe(c events.ContentAt) string {
	s := string(c.Part)
	if c.URI != "" {
		s += " " + c.URI
	}
	if c.Content.IsRef() {
		return s + fmt.Sprintf(" -> %d", c.Content.Size())
	}
	b, _ := c.Content.Bytes(nil)
	s += fmt.Sprintf(" %q", b)
	if c.Legacy {
		s += " legacy"
	}
	return s
}

func TestContentsSayWhere(t *testing.T) {
	ref := `{"$blob":"` + hash + `","size":6}`
	in := `[{"type":"chat_request",` + head +
		`,"content":"","resources":[{"uri":"u","content":` + ref +
		`,"formatted":` + ref + `}]},
{"type":"turn_start",` + head + `},
{"type":"tool_call_request",` + head + `,"id":"a","name":"cat"},
{"type":"tool_call_request",` + head + `,"id":"a","name":"dog"},
{"type":"tool_call_response",` + head + `,"id":"a","content":"","is_error":false},
{"type":"tool_call_response",` + head + `,"id":"a","is_error":true,
 "content":[{"type":"text","content":` + ref + `}]},
{"type":"tool_call_response",` + head + `,"id":"a","content":"","is_error":false}]`
	var got []string
	for c := range decode(t, in).Contents() {
		got = append(got, fmt.Sprintf("%d %d %q %q %s", c.Element, c.Turn, c.Call, c.Tool, c.Part))
	}
	want := `0 0 "" "" attachment
0 0 "" "" formatted
4 1 "a" "cat" text
5 1 "a" "dog" text
6 1 "a" "" text`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s", s)
	}
}

func TestText(t *testing.T) {
	store := memory{}
	ref, _ := store.Write([]byte("hello\n"))
	obj := fmt.Sprintf(`{"$blob":"%s","size":%d}`, ref.Hash, ref.Size)
	tests := []struct{ name, content, want string }{
		{"one text is exactly its bytes", `[{"type":"text","content":{"blob":"/w=="}}]`, "\xff"},
		{"legacy", `"aGVsbG8K"`, "hello\n"},
		{
			"two texts",
			`[{"type":"text","content":` + obj +
				`},{"type":"text","text":""},{"type":"text","text":"b"}]`,
			"hello\n\n\n\n\nb",
		},
		{"nothing", `[]`, ""},
		{
			"formatted",
			`[{"type":"resource","resource":{"uri":"u","text":"x"},"formatted":` + obj + `}]`,
			"hello\n",
		},
		{
			"resource",
			`[{"type":"resource","resource":{"uri":"u","mimeType":"text/x-rust","content":` +
				obj + `}}]`,
			"hello\n",
		},
		{
			"binary resource",
			`[{"type":"resource","resource":{"uri":"u","mimeType":"x/y","blob":"/w=="}}]`,
			"[resource u (x/y, 1 bytes)]",
		},
		{
			"resource with NUL",
			`[{"type":"resource","resource":{"uri":"u","text":"\u0000"}}]`,
			"[resource u (1 bytes)]",
		},
		{
			"resource without content",
			`[{"type":"resource","resource":{"uri":"u","mimeType":"text/plain"}}]`,
			"[resource u (text/plain)]",
		},
		{
			"drawing",
			`[{"type":"resource","resource":{"uri":"u","mimeType":"image/svg+xml",` +
				`"text":"<svg/>"}}]`,
			"<svg/>",
		},
		{
			"media are not opened",
			`[{"type":"resource","resource":{"uri":"u","mimeType":"image/png","content":` +
				strings.Replace(obj, "58", "85", 1) +
				`}},{"type":"image","mimeType":"image/png","content":` + obj +
				`},{"type":"audio","data":""}]`,
			"[resource u (image/png, 6 bytes)]\n\n[image (image/png, 6 bytes)]\n\n" +
				"[audio (0 bytes)]",
		},
		{"link", `[{"type":"resource_link","uri":"u","name":"n"}]`, "[resource_link u]"},
		{
			"question",
			`[{"type":"question","question":{"id":"i","text":"q?"}},` +
				`{"type":"question","text":"r?"}]`,
			"q?\n\nr?",
		},
		{"unknown", `[{"type":"video"}]`, "[video]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := decode(t, result(tt.content)).At(1).Event().(*events.ToolCallResponse)
			got, err := r.Text(store)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	r := decode(t, Text(`"content":{"$blob":"`+blobs.Sum(nil).String()+`","size":0}`)).At(1)
	if _, err := r.Event().(*events.ToolCallResponse).Text(store); err == nil {
		t.Error("a missing blob is no error")
	}
}

// The text of a result in the inline form is the part that people and jp see and edit.
func TestEditedTextWins(t *testing.T) {
	s := decode(t, result(
		`[{"type":"resource","resource":{"uri":"u","content":{"text":"old"}}}]`))
	if _, err := s.Inline(memory{}); err != nil {
		t.Fatal(err)
	}
	inline := string(s.Encode())
	blocks := func(s *events.Stream) []events.Block {
		return s.At(1).Event().(*events.ToolCallResponse).Blocks
	}
	if b := blocks(decode(t, inline)); len(b) != 1 || b[0].Type != events.BlockResource {
		t.Fatalf("blocks are %+v in %s", b, inline)
	}
	edited := decode(t, strings.Replace(inline, b64([]byte("old")), b64([]byte("new")), 1))
	b := blocks(edited)
	if len(b) != 1 || b[0].Type != events.BlockText {
		t.Fatalf("blocks are %+v", b)
	}
	if text, _ := (&events.ToolCallResponse{Blocks: b}).Text(nil); text != "new" {
		t.Errorf("text is %q", text)
	}
	for name, bad := range map[string]string{
		"damaged": strings.Replace(inline, `"text": "b2xk"`, `"tex": "b2xk"`, 1),
		"reference": strings.Replace(inline, `"text": "b2xk"`,
			`"$blob": "`+b64([]byte(hash))+`", "size": 3`, 1),
	} {
		if bad == inline {
			t.Fatalf("%s: nothing was replaced in %s", name, inline)
		}
		if b := blocks(decode(t, bad)); len(b) != 1 || b[0].Type != events.BlockText {
			t.Errorf("%s: blocks are %+v", name, b)
		}
	}
}

func TestInlineResources(t *testing.T) {
	in := request1(`"resources":[{"uri":"u","content":{"text":"old"}}],"author":"Ada"`)
	s := decode(t, in)
	if n, err := s.Inline(memory{}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	inline := string(s.Encode())
	if strings.Contains(inline, `"resources"`) {
		t.Errorf("jp would drop resources: %s", inline)
	}
	if canonical := string(s.Canonical()); strings.Contains(canonical, `"resources"`) {
		t.Errorf("jp writes no resources: %s", canonical)
	}
	resources := func(text string) []events.Resource {
		return decode(t, text).At(0).Event().(*events.ChatRequest).Resources
	}
	if rs := resources(inline); len(rs) != 1 || rs[0].URI != "u" {
		t.Errorf("resources are %+v", rs)
	}
	referring := strings.Replace(inline, `"text": "b2xk"`,
		`"$blob": "`+b64([]byte(hash))+`", "size": 3`, 1)
	if rs := resources(referring); referring == inline || rs != nil {
		t.Errorf("resources with a reference are %+v", rs)
	}
}

// Bytes that are not UTF-8 cannot be the text that jp reads.
func TestInlineBinary(t *testing.T) {
	s := decode(t, Text(`"content":{"blob":"/w=="}`))
	before := s.At(1)
	if _, err := s.Inline(memory{}); err != nil {
		t.Fatal(err)
	}
	if !events.Equal(before, s.At(1)) {
		t.Errorf("became %s", s.At(1).Raw())
	}
	if _, err := s.Externalize(memory{}, migrate); err != nil {
		t.Fatal(err)
	}
	if got := string(s.Encode()); strings.Contains(got, "git_jp") || !strings.Contains(got, "$blob") {
		t.Errorf("became %s", got)
	}
}

// Base64 with line breaks is not base64 in jp, although Go's decoder accepts it.
func TestLegacyWithLineBreaks(t *testing.T) {
	for _, stored := range []string{"dGVz\n\n\n\n", "dGVz\r\r\r\r"} {
		for c := range decode(t, result(Quote(stored))).Contents() {
			if got, want := describe(c), fmt.Sprintf("text %q legacy", stored); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

// Changing something else keeps the inline form; changing the blocks converts it.
func TestChangingTheInlineForm(t *testing.T) {
	s := decode(t, result(`[{"type":"resource","resource":{"uri":"u","text":"old"}}]`))
	if _, err := s.Inline(memory{}); err != nil {
		t.Fatal(err)
	}
	inline := string(s.Encode())
	r := *s.At(1).Event().(*events.ToolCallResponse)
	r.IsError = true
	s.Set(1, s.At(1).With(&r))
	if got, want := string(s.Encode()), strings.Replace(inline, "false", "true", 1); got != want {
		t.Errorf("got %s", got)
	}
	r.Blocks = []events.Block{{Type: events.BlockText, Content: blobs.Loaded([]byte("new"))}}
	s.Set(1, s.At(1).With(&r))
	got := string(s.Encode())
	if strings.Contains(got, "git_jp_blocks") || !strings.Contains(got, `"text": "new"`) {
		t.Errorf("got %s", got)
	}
}

// A reference that this version does not understand must not vanish into base64, where garbage
// collection would not find it.
func TestInlineRefusesReferencesOfNewerVersions(t *testing.T) {
	s := decode(t, result(`[{"type":"video","content":{"$blob":"`+hash+`","size":6}}]`))
	before := string(s.Encode())
	if _, err := s.Inline(memory{}); err == nil || !strings.Contains(err.Error(), hash) {
		t.Errorf("error is %v", err)
	}
	if got := string(s.Encode()); got != before {
		t.Errorf("the stream changed: %s", got)
	}
}

type failing struct{ after int }

func (f *failing) Write(b []byte) (blobs.Ref, error) {
	if f.after--; f.after < 0 {
		return blobs.Ref{}, fmt.Errorf("disk is full")
	}
	return blobs.RefTo(b), nil
}

func TestExternalizeAllOrNothing(t *testing.T) {
	in := result(`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`)
	s := decode(t, in)
	if _, err := s.Externalize(&failing{1}, events.ExternalizeOptions{}); err == nil {
		t.Error("no error")
	}
	if string(s.Encode()) != in {
		t.Errorf("the stream changed: %s", s.Encode())
	}
}
