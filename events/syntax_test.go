package events_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

const (
	hash = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
	head = `"timestamp":"2026-01-01 00:00:00.0"`
)

// result writes a response; its content is marked by two at signs.
func result(content string) string {
	return `[{"type":"turn_start",` + head + `},{"type":"tool_call_response",` + head +
		`,"id":"a","is_error":false,"content":` + content + `}]`
}

func Text(content string) string { return result(`[{"type":"text",` + content + `}]`) }

func request1(more string) string {
	return `[{"type":"chat_request",` + head + `,"content":"c",` + more + `}]`
}

func strip(policy string) string {
	return `[{"type":"compaction",` + head + `,"from_turn":1,"to_turn":2,"tool_calls":{` +
		policy + `}}]`
}

func question(members string) string {
	return `[{"type":"inquiry_request",` + head + `,"id":"a","source":{"source":"user"},` +
		`"question":{` + members + `}}]`
}

// In each input @ precedes the byte that the error must point to.
func TestErrorsSayWhere(t *testing.T) {
	tests := []struct {
		name, in string
		element  int
		want     string
	}{
		{"two forms", Text(`"content":{"text":"a",@"blob":"AA=="}`), 1, "both text and blob"},
		{
			"three forms",
			Text(`"content":{"$blob":"` + hash + `","size":1,@"text":""}`),
			1,
			"both $blob and text",
		},
		{
			"escaped twin",
			Text(`"content":{"text":"a",@"\u0024blob":"` + hash + `"}`),
			1,
			"both text and $blob",
		},
		{"no form", Text(`"content":@{"size":1}`), 1, "none of $blob, text, blob"},
		{"unknown form", Text(`"content":{@"$ref":"x"}`), 1, `unknown member "$ref"`},
		{"bad digest", Text(`"content":{"$blob":@"ABC","size":1}`), 1, "not a SHA-256"},
		{
			"upper-case digest",
			Text(`"content":{"$blob":@"` + strings.ToUpper(hash) + `","size":1}`),
			1,
			"not a SHA-256",
		},
		{"digest is a number", Text(`"content":{"$blob":@1,"size":1}`), 1, "not a string"},
		{"no size", Text(`"content":{@"$blob":"` + hash + `"}`), 1, "no size"},
		{
			"negative size",
			Text(`"content":{"$blob":"` + hash + `","size":@-1}`),
			1,
			"not a number of bytes",
		},
		{
			"size is a float",
			Text(`"content":{"$blob":"` + hash + `","size":@1.0}`),
			1,
			"not a number of bytes",
		},
		{
			"size over the limit",
			Text(`"content":{"size":@52428801,"$blob":"` + hash + `"}`),
			1,
			"limit of 52428800",
		},
		{"bad base64", Text(`"content":{"blob":@"A"}`), 1, "not base64"},
		{
			"wrapped and bare",
			Text(`"content":{"text":"a"},@"text":"a"`),
			1,
			"both content and text",
		},
		{"content is a string", Text(`"content":@"a"`), 1, "not an object"},
		{"text without content", result(`[{@"type":"text"}]`), 1, "without content"},
		{"block without type", result(`[{@"content":{}}]`), 1, "no type"},
		{"block is a string", result(`[{"type":"x"},@"a"]`), 1, "content block 1: not an object"},
		{"content is null", result(`@null`), 1, "neither a string nor an array"},
		{
			"resource without uri",
			result(`[{"type":"resource","resource":{@"text":"a"}}]`),
			1,
			"no uri",
		},
		{
			"resource in two forms",
			result(`[{"type":"resource","resource":{"uri":"u","text":"a",@"blob":"AA=="}}]`),
			1,
			"resource: both text and blob",
		},
		{
			"formatted twice",
			result(`[{"type":"resource","resource":{"uri":"u","formatted":"a"},@"formatted":"b"}]`),
			1,
			"formatted stands in",
		},
		{
			"image in two forms",
			result(`[{"type":"image","data":"AA==","content":{"text":""}}]`),
			1,
			"both content and data",
		},
		{
			"attachment",
			request1(`"resources":[{"uri":"u"},{"uri":@1}]`),
			0,
			"resource 1: uri: not a string",
		},
		{"resources are an object", request1(`"resources":@{}`), 0, "resources: not an array"},
		{"schema is a list", request1(`"schema":@[]`), 0, "schema: not an object"},
		{
			"turn_start with index",
			`[{"type":"turn_start",` + head + `,@"index":1}]`,
			0,
			"no member index",
		},
		{"no timestamp", `[{@"type":"chat_request","content":""}]`, 0, "no timestamp"},
		{
			"bad timestamp",
			`[{"type":"chat_request","content":"","timestamp":@"yesterday"}]`,
			0,
			"not a timestamp",
		},
		{
			"response without form",
			`[@{"type":"chat_response",` + head + `}]`,
			0,
			"none of message, reasoning, data",
		},
		{
			"fractional turn",
			`[{"type":"compaction",` + head + `,"from_turn":@1.0,"to_turn":2}]`,
			0,
			"not a count",
		},
		{"strip without booleans", strip(`@"policy":"strip"`), 0, "tool_calls: no request"},
		{
			"strip without one",
			strip(`@"policy":"strip","request":true`),
			0,
			"tool_calls: no response",
		},
		{
			"strip by a word",
			strip(`"policy":"strip","request":true,"response":@"true"`),
			0,
			"tool_calls: response: not a boolean",
		},
		{"unknown policy", strip(`"policy":@"summarize"`), 0, "unknown policy summarize"},
		{
			"empty reasoning",
			`[{"type":"compaction",` + head + `,"from_turn":1,"to_turn":2,"reasoning":@""}]`,
			0,
			`unknown policy ""`,
		},
		{"no answer type", question(`@"text":"q"`), 0, "question: no answer_type"},
		{
			"answer type is a word",
			question(`"text":"q","answer_type":@"boolean"`),
			0,
			"question: answer_type: not an object",
		},
		{
			"answer type without type",
			question(`"text":"q","answer_type":{@"options":[]}`),
			0,
			"question: answer_type: no type",
		},
		{"duplicate name", `[1,{"a":1,@"a":2}]`, 1, "duplicate"},
		{"two values", `[]@[]`, -1, "unexpected data after"},
		{"garbage behind", `[] @x`, -1, "unexpected data after"},
		{"empty file", `@`, -1, "empty"},
		{"an object", ` @{}`, -1, "not a JSON array"},
		{"conflict markers", "[\n@<<<<<<< ours\n1]", 0, "invalid character"},
		{"truncated", `[{"a":1@`, 0, "unexpected EOF"},
		{"byte order mark", "@\ufeff[]", -1, "invalid character"},
		{"lone surrogate", `["@\ud800"]`, 0, "surrogate"},
		{
			"too deep",
			`[1,@` + strings.Repeat("[", 512) + strings.Repeat("]", 512) + `]`,
			1,
			"nest too deep",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := strings.IndexByte(tt.in, '@')
			in := strings.Replace(tt.in, "@", "", 1)
			_, err := events.Decode([]byte(in))
			var syntax *events.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error is %v", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %q, want %q", err, tt.want)
			}
			if at >= 0 && syntax.Offset != int64(at) {
				t.Errorf("offset is %d, want %d: %v", syntax.Offset, at, err)
			}
			if syntax.Element != tt.element {
				t.Errorf("element is %d, want %d: %v", syntax.Element, tt.element, err)
			}
		})
	}
}

// A syntax error reports the kind of the element if it is known.
func TestDuplicateNameErrorHasAKind(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want events.Kind
	}{
		{`[1,{"type":"turn_start","a":1,"a":2}]`, events.KindTurnStart},
		{`[{"a":{"b":1,"\u0062":2},"type":"new"},{"type":"other"}]`, "new"},
		{`[{"type":"chat_request","type":"turn_start"}]`, events.KindChatRequest},
		{`[[{"a":1,"a":2}]]`, ""},
		{`[{"type":"turn_start","a":1,"a":2},`, ""},
	} {
		_, err := events.Decode([]byte(tt.in))
		var syntax *events.SyntaxError
		if !errors.As(err, &syntax) || syntax.Kind != tt.want {
			t.Errorf("%s: %v", tt.in, err)
		}
		if _, err := events.References([]byte(tt.in)); !errors.As(err, &syntax) || syntax.Kind != tt.want {
			t.Errorf("references of %s: %v", tt.in, err)
		}
	}
}

// jp reads these, or used to, or nothing depends on what it rejects.
func TestReadsOnPurpose(t *testing.T) {
	for _, in := range []string{
		`[{"type":"compaction",` + head + `,"from_turn":0,"to_turn":18446744073709551615,` +
			`"summary":null,"reasoning":null,"tool_calls":null}]`,
		strip(`"policy":"strip","request":false,"response":true,"new":1`),
		strip(`"policy":"omit","request":"ignored"`),
		question(`"text":"q","answer_type":{"type":"select","options":["bare"]}`),
		question(`"text":"q","answer_type":{"type":"new"},"default":null`),
		strings.Replace(question(`"text":"q","answer_type":{"type":"text"}`), `"user"`, `"new"`, 1),
		`[{"type":"new","n":1e999}]`,
	} {
		s, err := events.Decode([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := s.At(0).With(s.At(0).Event()); got != s.At(0) {
			t.Errorf("%s became %s", in, got.Raw())
		}
	}
}

func TestSyntaxErrorText(t *testing.T) {
	_, err := events.Decode([]byte(Text(`"content":{}`)))
	const want = "element 1 (tool_call_response), offset 186: content block 0: content: " +
		"none of $blob, text, blob"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var syntax *events.SyntaxError
	errors.As(err, &syntax)
	if syntax.Path = "a/events.json"; syntax.Error() != "a/events.json: "+want {
		t.Error(syntax)
	}
}

func TestLimits(t *testing.T) {
	in := []byte(Text(`"content":{"$blob":"` + hash + `","size":11}`))
	small := events.DecodeOptions{MaxBlobBytes: 10}
	if _, err := events.DecodeWith(in, small); err == nil {
		t.Error("a content over the limit was read")
	}
	o := events.ReferencesOptions{DecodeOptions: small}
	if _, err := events.ReferencesWith(in, o); err == nil {
		t.Error("a reference over the limit was found")
	}
	var limit *blobs.LimitError
	long := []byte(Text(`"text":"01234567890"`))
	if _, err := events.DecodeWith(long, small); !errors.As(err, &limit) {
		t.Errorf("a text over the limit: %v", err)
	}
	in = []byte(Text(`"content":{"$blob":"` + hash + `","size":1099511627776}`))
	if _, err := events.DecodeWith(in, events.DecodeOptions{MaxBlobBytes: -1}); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	s := decode(t, Text(`"text":"01234567890"`))
	if s.Validate() != nil || s.ValidateWith(small) == nil {
		t.Error("validation does not take the limit")
	}
}

func TestStreamLimit(t *testing.T) {
	huge := make([]byte, 1<<30+1) // never touched, so it costs nothing
	if _, err := events.Decode(huge); !errors.Is(err, events.ErrTooLarge) {
		t.Errorf("decode: %v", err)
	}
	if _, err := events.References(huge); !errors.Is(err, events.ErrTooLarge) {
		t.Errorf("references: %v", err)
	}
}

// Inputs that are designed to be slow or to exhaust the stack.
func TestHostileInput(t *testing.T) {
	const n = 1 << 20
	for name, in := range map[string]string{
		"brackets":      strings.Repeat("[", n),
		"objects":       "[" + strings.Repeat(`{"a":`, n),
		"backslashes":   `["` + strings.Repeat(`\\`, n) + `"]`,
		"quotes":        `["` + strings.Repeat(`\"`, n) + `"]`,
		"blob keys":     "[" + strings.Repeat(`{"$blob":1},`, n/10) + "1]",
		"elements":      "[" + strings.Repeat("1,", n/4) + "1]",
		"white space":   "[" + strings.Repeat(" ", n) + "]",
		"long number":   "[" + strings.Repeat("9", n) + "]",
		"huge exponent": `[{"type":"x","a":1e99999999999999999999}]`,
		"requests": "[" + strings.Repeat(
			`{"type":"tool_call_request",`+head+`,"id":"a","name":"b"},`, n/64) + "1]",
	} {
		if s, err := events.Decode([]byte(in)); err == nil {
			if string(s.Encode()) != in {
				t.Errorf("%s: encoding is not the identity", name)
			}
			s.Canonical()
			if s.Len() > 0 {
				s.At(0).Sum()
			}
		}
		if _, err := events.References([]byte(in)); err != nil && !strings.HasPrefix(in, "[[") &&
			name != "objects" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
