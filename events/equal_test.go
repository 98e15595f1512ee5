package events_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

func TestEqual(t *testing.T) {
	response := func(more string) string {
		return `{"type":"tool_call_response",` + head + `,"id":"a","is_error":false,` + more + `}`
	}
	hello := blobs.RefTo([]byte("hello\n"))
	ref := `{"$blob":"` + hello.Hash.String() + `","size":6}`
	inText := `{"type":"turn_start",` + head + `,"metadata":`
	tests := []struct {
		name, a, b string
		equal      bool
	}{
		{
			"order, space, spelling", response(`"content":"","x":{"a":1.50,"b":[1e2]}`),
			`{"x":{"b":[100], "a":15e-1},"content":"","is_error":false,"id":"\u0061",` + head +
				`,"type":"tool_call_response"}`, true,
		},
		{"unknown member", response(`"content":"","x":1`), response(`"content":"","x":2`), false},
		{"unknown member absent", response(`"content":"","x":1`), response(`"content":""`), false},
		{"event_id", response(`"content":"","event_id":"1"`), response(`"content":""`), true},
		{
			"legacy and reference",
			response(`"content":"aGVsbG8K"`),
			response(`"content":[{"type":"text","content":` + ref + `}]`),
			true,
		},
		{
			"legacy and literal",
			response(`"content":"aGVsbG8K"`),
			response(`"content":"hello\n"`),
			true,
		},
		{
			"bare and wrapped",
			response(`"content":[{"type":"text","text":"a"}]`),
			response(`"content":[{"content":{"blob":"YQ=="},"type":"text"}]`),
			true,
		},
		{
			"other content",
			response(`"content":"aGVsbG8K"`),
			response(`"content":"aGVsbG8="`),
			false,
		},
		{
			"other block",
			response(`"content":[{"type":"image","data":"YQ=="}]`),
			response(`"content":[{"type":"text","text":"a"}]`),
			false,
		},
		{
			"member of a block",
			response(`"content":[{"type":"text","text":"a","x":1}]`),
			response(`"content":[{"type":"text","text":"a"}]`),
			false,
		},
		{"base64 that is not text", inText + `{"a":"dGVzdA=="}}`, inText + `{"a":"test"}}`, true},
		{"base64 that is text", inText + `{"a":"YQ=="}}`, inText + `{"a":"WVE9PQ=="}}`, false},
		{
			"literal metadata",
			inText + `{"a":"not base64"}}`,
			inText + `{"a":"` + b64([]byte("not base64")) + `"}}`,
			true,
		},
		{"empty metadata", inText + `{}}`, `{"type":"turn_start",` + head + `}`, true},
		{
			"our metadata",
			inText + `{"git_jp_usage":"x"}}`,
			`{"type":"turn_start",` + head + `}`,
			true,
		},
		{
			"our metadata beside others",
			inText + `{"git_jp_usage":"x","a":1}}`,
			inText + `{"a":1.0}}`,
			true,
		},
		{
			"blocks that are not read",
			inText + `{"git_jp_blocks":[]}}`,
			`{"type":"turn_start",` + head + `}`,
			true,
		},
		{
			"time",
			`{"type":"turn_start","timestamp":"2026-01-01T02:00:00+02:00"}`,
			`{"type":"turn_start",` + head + `}`,
			true,
		},
		{
			"other time",
			`{"type":"turn_start","timestamp":"2026-01-01 00:00:00.000000001"}`,
			`{"type":"turn_start",` + head + `}`,
			false,
		},
		{
			"null is absent",
			`{"type":"chat_request",` + head + `,"content":"","author":null,"resources":[]}`,
			`{"type":"chat_request",` + head + `,"content":""}`,
			true,
		},
		{
			"missing arguments",
			`{"type":"tool_call_request",` + head + `,"id":"","name":"","arguments":{}}`,
			`{"type":"tool_call_request",` + head + `,"id":"","name":""}`,
			true,
		},
		{
			"numbers that a float confuses",
			`{"a":12345678901234567890123}`,
			`{"a":12345678901234567890124}`,
			false,
		},
		{"zero", `{"a":0.0}`, `{"a":0e5}`, true},
		{"kinds", `{"type":"a"}`, `{"type":"b"}`, false},
		{"no objects", `1.0`, `1`, true},
		{
			"hidden second form",
			`{"type":"chat_response",` + head + `,"message":"m","data":1}`,
			`{"type":"chat_response",` + head + `,"message":"m"}`,
			false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := decode(t, "["+tt.a+"]").At(0), decode(t, "["+tt.b+"]").At(0)
			if got := events.Equal(a, b); got != tt.equal || events.Equal(b, a) != got {
				t.Errorf("equal: %t, want %t", got, tt.equal)
			}
			if (a.Sum() == b.Sum()) != tt.equal {
				t.Error("the sums disagree")
			}
		})
	}
}

// Blocks in the metadata count only as the blocks that are read from them: beside an edited text
// they mean nothing.
func TestStaleBlocksDoNotCount(t *testing.T) {
	in := func(md string) string {
		return `[{"type":"tool_call_response",` + head +
			`,"id":"a","is_error":false,"content":"YQ=="` + md + `}]`
	}
	block := `[{"type":"` + b64([]byte("text")) + `","text":"` + b64([]byte("a")) + `"}]`
	withBlocks := in(`,"metadata":{"git_jp_blocks":` + block + `}`)
	stale := decode(t, strings.Replace(withBlocks, "YQ==", "Yg==", 1)).At(0)
	fresh := decode(t, withBlocks).At(0)
	plain := decode(t, in("")).At(0)
	edited := decode(t, strings.Replace(in(""), "YQ==", "Yg==", 1)).At(0)
	if !events.Equal(fresh, plain) {
		t.Error("blocks that say what the text says count")
	}
	if !events.Equal(stale, edited) || events.Equal(stale, fresh) {
		t.Error("stale blocks count")
	}
}
