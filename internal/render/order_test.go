package render

import (
	"strings"
	"testing"
)

// TestResultsFollowTheirCalls verifies that results and questions come below their call for people,
// though calls and results of one answer are together in the stream.
func TestResultsFollowTheirCalls(t *testing.T) {
	s := decode(t,
		`{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"}`,
		`{"timestamp":"2026-01-01 00:00:01.0","type":"tool_call_request","id":"a","name":"first","arguments":{}}`,
		`{"timestamp":"2026-01-01 00:00:01.0","type":"tool_call_request","id":"b","name":"second","arguments":{}}`,
		`{"timestamp":"2026-01-01 00:00:01.0","type":"tool_call_request","id":"c","name":"third","arguments":{}}`,
		`{"timestamp":"2026-01-01 00:00:02.0","type":"inquiry_request","id":"a.sure","source":{"source":"tool","tool_name":"first"},"question":{"text":"Sure?","answer_type":{"type":"boolean"}}}`,
		`{"timestamp":"2026-01-01 00:00:02.0","type":"inquiry_response","id":"a.sure","answer":true}`,
		`{"timestamp":"2026-01-01 00:00:03.0","type":"tool_call_response","id":"b","content":"`+b64("of b")+`","is_error":false}`,
		`{"timestamp":"2026-01-01 00:00:03.0","type":"tool_call_response","id":"a","content":"`+b64("of a")+`","is_error":false}`,
		`{"timestamp":"2026-01-01 00:00:04.0","type":"chat_response","message":"Done."}`,
		`{"timestamp":"2026-01-01 00:00:05.0","type":"turn_start"}`,
		`{"timestamp":"2026-01-01 00:00:06.0","type":"tool_call_request","id":"a","name":"again","arguments":{}}`,
		`{"timestamp":"2026-01-01 00:00:07.0","type":"tool_call_response","id":"a","content":"`+b64("of again")+`","is_error":false}`,
	)
	c := Conversation{Stream: s}
	want := map[Format][]string{
		FormatText: {
			"first", "Sure?", "true", "of a", "second", "of b", "third", "Done.", "again", "of again",
		},
		FormatMarkdown: {
			"`first`", "true", "of a", "`second`", "of b", "`third`", "Done.", "`again`", "of again",
		},
		FormatJSONLines: {
			"first", "second", "third", "Sure?", "of b", "of a", "Done.", "again", "of again",
		},
	}
	for format, words := range want {
		var b strings.Builder
		if _, err := c.Render(&b, Options{Format: format}); err != nil {
			t.Fatal(err)
		}
		rest := b.String()
		for _, word := range words {
			_, after, ok := strings.Cut(rest, word)
			if !ok {
				t.Errorf("format %d: %q does not follow in\n%s", format, word, b.String())
				break
			}
			rest = after
		}
	}
}

// TestOnlySplitsAreHidden verifies that a request is hidden, as one with which a turn continues after
// a compaction, only if it says nothing: whoever writes a conversation chooses its marks.
func TestOnlySplitsAreHidden(t *testing.T) {
	c := Conversation{Stream: decode(t,
		`{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"}`,
		`{"timestamp":"2026-01-01 00:00:01.0","type":"chat_request","content":"Look."}`,
		`{"timestamp":"2026-01-01 00:00:02.0","type":"turn_start"}`,
		`{"timestamp":"2026-01-01 00:00:02.0","type":"chat_request","content":"Continue.","metadata":{"git_jp_split":true}}`,
		`{"timestamp":"2026-01-01 00:00:03.0","type":"turn_start"}`,
		`{"timestamp":"2026-01-01 00:00:03.0","type":"chat_request","content":"Obey.","metadata":{"git_jp_split":true}}`,
	)}
	for _, format := range []Format{FormatText, FormatMarkdown} {
		out, _ := render(t, c, Options{Format: format})
		if strings.Contains(out, "Continue.") || !strings.Contains(out, "Obey.") {
			t.Errorf("format %d:\n%s", format, out)
		}
	}
}

// TestOpenCodeBlocksAreClosed verifies that an answer that was cut off does not turn the following
// text into code.
func TestOpenCodeBlocksAreClosed(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                       "plain",
		"```go\nx":                    "```go\nx\n```",
		"```go\nx\n":                  "```go\nx\n```",
		"```go\nx\n```\nmore":         "```go\nx\n```\nmore",
		"````\n```\nx\n```\n":         "````\n```\nx\n```\n````",
		"~~~ a`b\n```\n":              "~~~ a`b\n```\n~~~",
		"    ```\nindented":           "    ```\nindented",
		"```a`b```":                   "```a`b```",
		"  ```\nx\n  ``` \ny\n```\nz": "  ```\nx\n  ``` \ny\n```\nz\n```",
		"```\nx\n```go\ny":            "```\nx\n```go\ny\n```",
	} {
		if got := closed(text); got != want {
			t.Errorf("closed(%q) = %q, want %q", text, got, want)
		}
	}
}
