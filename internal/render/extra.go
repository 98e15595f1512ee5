package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
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
	var lines []string
	for _, x := range extras(md) {
		lines = append(lines, x.label+": "+x.text)
	}
	return lines
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
		text := func(name string) string { s, _ := v[name].(string); return s }
		if at := cmp.Or(text("url"), text("uri")); isAddress(at) {
			title := strings.TrimSpace(text("title"))
			add("source", strings.TrimPrefix(title+" — "+at, " — "))
			return true
		}
		if text("type") == "compaction" && text("content")+text("encrypted_content") != "" {
			words := cmp.Or(text("content"), fmt.Sprintf("%d bytes that only the provider can read",
				len(text("encrypted_content"))))
			words = strings.Join(strings.Fields(words), " ")
			add("compacted by the provider", clipRunes(words, mostExtra))
			return true
		}
		if query := text("query"); query != "" {
			add("searched", query)
			known = true
		}
		for _, name := range []string{"queries", "webSearchQueries"} {
			queries, _ := v[name].([]any)
			for _, q := range queries {
				if q, ok := q.(string); ok {
					add("searched", q)
					known = true
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if _, text := v[name].(string); !text {
				known = tellExtra(v[name], add) || known
			}
		}
	}
	return known
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
