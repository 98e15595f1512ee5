package render

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
)

// The providers' own records, in the forms of five of them.
const extraList = `[` +
	`{"type":"server_tool_use","id":"` + "c3J2" + `","name":"d2Vi","input":{"query":"Z28gbmV3cw=="}},` +
	`{"type":"d2Vi","content":[{"url":"aHR0cHM6Ly9hLmV4YW1wbGU=","title":"QQ==","encrypted_content":"WA=="}]},` +
	`{"type":"dXJs","url_citation":{"url":"aHR0cHM6Ly9iLmV4YW1wbGU=","title":"QhtbMm1i"}},` +
	`{"groundingMetadata":{"webSearchQueries":["cQ=="],"groundingChunks":[{"web":{"uri":"aHR0cHM6Ly9jLmV4YW1wbGU="}}]}},` +
	`"aHR0cHM6Ly9kLmV4YW1wbGU=","aHR0cHM6Ly9kLmV4YW1wbGU=",{"executableCode":{"code":"cHJpbnQ="}},7]`

func TestExtras(t *testing.T) {
	at := `"timestamp":"2026-01-01 00:00:00.0"`
	c := Conversation{ID: 17838000000, Contents: newMemory(), Stream: decode(t,
		`{`+at+`,"type":"turn_start"}`, `{`+at+`,"type":"chat_request","content":"q"}`,
		`{`+at+`,"type":"chat_response","message":"Hi","metadata":{"git_jp_extra":`+extraList+`}}`,
		`{`+at+`,"type":"chat_response","message":"","metadata":{"git_jp_extra":["aHR0cHM6Ly9lLmV4YW1wbGU="]}}`,
		`{`+at+`,"type":"tool_call_request","id":"i","name":"n","arguments":{},`+
			`"metadata":{"git_jp_extra":["aHR0cHM6Ly9mLmV4YW1wbGU="]}}`,
	)}
	if _, ok := c.Stream.At(2).Metadata().Value(events.MetadataExtra); !ok {
		t.Fatal("the key is another")
	}
	lines := []string{
		"searched: go news", "source: A — https://a.example", "source: B", "— https://b.example",
		"searched: q", "source: https://c.example", "source: https://d.example",
		`extra: {"executableCode":{"code":"print"}}`, "extra: 7", "source: https://e.example",
		"source: https://f.example",
	}
	for name, o := range map[string]Options{
		"terminal": {Output: terminal}, "plain": {}, "Markdown": {Format: FormatMarkdown},
	} {
		got, _ := render(t, c, o)
		text := strings.NewReplacer("- *", "", ":*", ":", `\_`, "_", "\\[", "[").Replace(got)
		for _, want := range lines {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s: no %q once in\n%s", name, want, got)
			}
		}
		if o.Output.Terminal && strings.Contains(strings.ReplaceAll(got, "\x1b[m", ""), "\x1b[2m") {
			t.Errorf("%s: an escape of a title is left in\n%q", name, got)
		}
		if n := strings.Count(strings.ToLower(got), "assistant"); n != 1 {
			t.Errorf("%s: %d messages in\n%s", name, n, got)
		}
	}
}
