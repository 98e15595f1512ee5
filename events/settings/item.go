package settings

import (
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/jsonspan"
)

// normalItem returns the normal form of an element of the list at a path. jp writes some elements
// in another form than people do: if both counted, a list would have each of them twice once jp has
// saved a conversation.
func normalItem(path []string, raw []byte) string {
	switch {
	case slices.Equal(path, []string{"conversation", "attachments"}) && jsonspan.IsString(raw):
		if file, ok := strings.CutPrefix(jsonspan.Text(raw), "file:"); ok {
			raw = jsonspan.Quoted("file:" + strings.TrimLeft(file, "/"))
		}
	case jsonspan.IsObject(raw) && isPrompt(path):
		raw = withoutPosition(raw)
	}
	return string(jsonspan.Normal(raw))
}

// isPrompt reports whether the elements of the list at a path are parts of a system prompt.
func isPrompt(path []string) bool {
	n := len(path) - 1
	return n > 0 && path[n-1] == "assistant" &&
		(path[n] == "instructions" || path[n] == "system_prompt_sections")
}

// withoutPosition leaves out the position that a part has unless it says another one.
func withoutPosition(part []byte) []byte {
	var fs []jsonspan.Field
	for _, m := range jsonspan.Members(part) {
		if v := m.Value(part); m.Name != "position" || string(v) != "0" {
			fs = append(fs, jsonspan.Field{Name: m.Name, Value: v})
		}
	}
	return jsonspan.Object(fs)
}
