package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/lists"
)

// An extra is a line about what a provider did or cited itself, see [events.MetadataExtra].
type extra struct{ label, text string }

// extras returns what is recorded beside the text of a reply, each line once: addresses with their
// titles, searches, and of anything else its kind and its beginning.
func extras(md events.Metadata) (lines []extra) {
	var list []json.RawMessage
	if !md.JSON(events.MetadataExtra, &list) {
		return nil
	}
	add := func(label, text string) {
		if x := (extra{label, text}); !slices.Contains(lines, x) {
			lines = append(lines, x)
		}
	}
	for _, raw := range list {
		var v any
		if json.Unmarshal(raw, &v) != nil {
			continue
		}
		before := len(lines)
		if known := tellExtra(v, add); !known && len(lines) == before {
			add("extra", clipRunes(compactJSON(raw), mostExtra))
		}
	}
	return lines
}

// Beside returns what [Conversation.Render] shows beside a reply, for showing it while the reply
// comes.
func Beside(md events.Metadata) []string {
	return lists.Map(extras(md), func(x extra) string { return x.label + ": " + x.text })
}

// mostExtra is how many characters of an unknown block are shown; print --json has all of it.
const mostExtra = 200

// tellExtra finds sources and searches at any depth, and reports whether it found any.
func tellExtra(v any, add func(label, text string)) (known bool) {
	switch v := v.(type) {
	case string: // a list of addresses has only these
		if isAddress(v) {
			add("source", v)
			return true
		}
	case []any:
		for _, e := range v {
			known = tellExtra(e, add) || known
		}
	case map[string]any:
		if tellSource(v, add) || tellCompacted(v, add) {
			return true
		}
		known = tellQueries(v, add)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if _, text := v[name].(string); !text {
				known = tellExtra(v[name], add) || known
			}
		}
	}
	return known
}

func tellSource(v map[string]any, add func(label, text string)) bool {
	at := cmp.Or(textOf(v, "url"), textOf(v, "uri"))
	if !isAddress(at) {
		return false
	}
	title := strings.TrimSpace(textOf(v, "title"))
	add("source", strings.TrimPrefix(title+" — "+at, " — "))
	return true
}

func tellCompacted(v map[string]any, add func(label, text string)) bool {
	content, encrypted := textOf(v, "content"), textOf(v, "encrypted_content")
	if textOf(v, "type") != "compaction" || content+encrypted == "" {
		return false
	}
	words := cmp.Or(content,
		fmt.Sprintf("%d bytes that only the provider can read", len(encrypted)))
	add("compacted by the provider", clipRunes(strings.Join(strings.Fields(words), " "), mostExtra))
	return true
}

func tellQueries(v map[string]any, add func(label, text string)) (known bool) {
	queries := []any{v["query"]}
	for _, name := range []string{"queries", "webSearchQueries"} {
		more, _ := v[name].([]any)
		queries = append(queries, more...)
	}
	for _, q := range queries {
		if q, _ := q.(string); q != "" {
			add("searched", q)
			known = true
		}
	}
	return known
}

func textOf(v map[string]any, name string) string {
	s, _ := v[name].(string)
	return s
}

func isAddress(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// clipRunes returns at most n characters of a text, and says that there is more.
func clipRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
