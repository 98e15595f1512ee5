package render

import (
	"strings"
	"testing"
)

// TestEditsAreDiffs verifies that the changes of a call are shown below it as a diff, in colours on
// a terminal that has them, and that the arguments are not repeated there.
func TestEditsAreDiffs(t *testing.T) {
	s := decode(t,
		`{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"}`,
		`{"timestamp":"2026-01-01 00:00:01.0","type":"tool_call_request","id":"a","name":"Edit","arguments":`+
			`{"file_path":"`+b64("a/b.go")+`","edits":[{"old_string":"`+b64("one\ntwo")+`","new_string":"`+
			b64("one\n\x1b[31m2")+`"},{"old_string":"`+b64("x")+`","new_string":""}]}}`,
		`{"timestamp":"2026-01-01 00:00:02.0","type":"tool_call_request","id":"b","name":"apply_patch","arguments":`+
			`{"input":"`+b64("*** Begin Patch\n*** Add File: c\n+new\n*** End Patch\n")+`","undo":false}}`,
	)
	c := Conversation{Stream: s}
	for name, tt := range map[string]struct {
		o    Options
		want []string
		not  string
	}{
		"a file": {Options{Format: FormatText}, []string{
			"→ Edit\na/b.go\n one\n-two\n+", "2\n-x\n", "→ apply_patch {\"undo\":false}\n*** Begin Patch\n*** Add File: c\n+new\n",
		}, "old_string"},
		"a terminal": {Options{Format: FormatText, Output: Output{Terminal: true, Color: true}}, []string{
			"\x1b[31m-two\x1b[m", "\x1b[32m+new\x1b[m", "a/b.go",
		}, "\x1b[31m2"},
		"few words": {Options{Format: FormatText, Style: StyleBrief}, []string{"→ Edit"}, "one"},
		"markdown": {Options{Format: FormatMarkdown}, []string{
			"**Call of `Edit`**\n\n`a/b.go`\n\n```diff\n one\n-two\n+", "```diff\n-x\n```", "```json\n{\n  \"undo\": false\n}\n```\n\n```diff\n*** Begin Patch",
		}, "old_string"},
	} {
		var b strings.Builder
		if _, err := c.Render(&b, tt.o); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s has no %q:\n%q", name, want, b.String())
			}
		}
		if strings.Contains(b.String(), tt.not) {
			t.Errorf("%s has %q:\n%q", name, tt.not, b.String())
		}
	}
}
