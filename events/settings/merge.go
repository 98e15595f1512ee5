package settings

import (
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/jsonspan"
)

// Merge merges a delta into the configuration as jp does. It is the only implementation of these
// rules. Values keep their sources.
//
//   - Objects are merged by key. What only one side has is kept, including unknown keys; null
//     means absent. A map may ask for "merge" (its keys replace), "keep" (they do not) or
//     "replace" instead.
//   - Lists are appended, without elements that the list already has unless "dedup" is false; a
//     strategy may be "prepend" or "replace". Lists in free-form JSON, arguments of commands,
//     types, enumerations and labels are replaced.
//   - A plain string replaces. A string with a strategy is appended or prepended after a
//     separator, by default "paragraph", unless the other string already has it as a block of
//     its own.
//   - All other values replace, as does a value of another type.
//   - A value marked discard_when_merged is dropped as soon as another one is merged.
//
// The empty configuration is the identity. Merging is associative unless a value has a strategy or
// changes its type.
func (c Config) Merge(delta Config) Config { return new(configMerger).merge(c, delta) }

// A configMerger keeps track of its path in the configuration and counts its work.
type configMerger struct {
	path []string
	work int // members, elements, and texts by their length
}

func (m *configMerger) join(prev, next *node) *node {
	free := placeOf(m.path)
	m.work += prev.work() + next.work()
	switch {
	case prev == nil:
		return next
	case next.isNull() && !isFreeForm(free):
		return prev
	case prev.how.discards():
		return inherit(prev, next)
	case next.kind == '{':
		return m.joinObject(prev, next)
	case next.kind == '[':
		return joinList(prev, next, free)
	case next.kind == '"' || next.how != nil:
		return joinString(prev, next)
	default:
		return next
	}
}

func (m *configMerger) merge(c, next Config) Config {
	switch {
	case next.root == nil:
		return c
	case c.root == nil:
		return next
	}
	return Config{m.join(c.root, next.root)}
}

// work returns the cost of merging a value with another one, not counting the values inside it.
func (n *node) work() int {
	const text = 32 // bytes that take as long as a member
	if n == nil {
		return 0
	}
	return 1 + len(n.members) + len(n.items) + len(n.raw)/text
}

func (n *node) isNull() bool { return n.how == nil && string(n.raw) == "null" }

// inherit returns next with prev's dedup setting if next has none.
func inherit(prev, next *node) *node {
	if prev.how.dedup == nil || next.how != nil && next.how.dedup != nil || next.kind == '{' {
		return next
	}
	n := *next
	n.how = &how{dedup: prev.how.dedup}
	if next.how != nil {
		*n.how = *next.how
		n.how.dedup = prev.how.dedup
	} else if n.kind == '"' {
		n.how.strategy = "replace"
	}
	if n.kind == '[' && isTrue(n.how.dedup) {
		n.items = withoutRepetitions(n.items)
	}
	return &n
}

func isTrue(v []byte) bool { return string(v) == "true" || string(v) == `"true"` }

func (m *configMerger) joinObject(prev, next *node) *node {
	strategy := ""
	if next.how != nil {
		strategy = next.how.strategy
	}
	if prev.kind != '{' || strategy == "replace" {
		return next
	}
	joined := &node{
		kind: '{', how: next.how, members: slices.Clone(prev.members),
		sources: unionSources(prev.sources, next.sources),
	}
	at := memberFinder(prev.members, len(next.members))
	for _, nm := range next.members {
		i := at(nm.name)
		switch {
		case i < 0:
			joined.members = append(joined.members, nm)
		case strategy == "merge":
			joined.members[i].value = nm.value
		case strategy != "keep":
			m.path = append(m.path, nm.name)
			joined.members[i].value = m.join(prev.members[i].value, nm.value)
			m.path = m.path[:len(m.path)-1]
		}
	}
	return joined
}

// memberFinder returns a function that finds members by name. It is called the given number of
// times; for only a few it searches linearly.
func memberFinder(members []configMember, times int) func(name string) int {
	const few = 4
	if times <= few {
		return func(name string) int {
			return slices.IndexFunc(members, func(m configMember) bool { return m.name == name })
		}
	}
	at := make(map[string]int, len(members))
	for i, m := range members {
		at[m.name] = i
	}
	return func(name string) int {
		if i, ok := at[name]; ok {
			return i
		}
		return -1
	}
}

func joinList(prev, next *node, at place) *node {
	h := &how{}
	if next.how != nil {
		*h = *next.how
	} else if at != placeCommon {
		h.strategy = "replace"
	}
	if h.dedup == nil && prev.how != nil {
		h.dedup = prev.how.dedup
	}
	joined := *next
	if h.strategy != "replace" && prev.kind == '[' {
		joined.items = slices.Concat(prev.items, next.items)
		if h.strategy == "prepend" {
			joined.items = slices.Concat(next.items, prev.items)
		}
		joined.sources = unionSources(prev.sources, next.sources)
		if h.dedup == nil || isTrue(h.dedup) {
			joined.items = withoutRepetitions(joined.items)
		}
	} else if isTrue(h.dedup) {
		joined.items = withoutRepetitions(joined.items)
	}
	switch {
	case next.how != nil:
		joined.how = h
	case h.dedup != nil:
		joined.how = &how{dedup: h.dedup}
	}
	return &joined
}

// withoutRepetitions keeps the first of equal elements.
func withoutRepetitions(items []*node) []*node {
	seen := make(map[string]bool, len(items))
	var kept []*node
	for _, n := range items {
		if !seen[n.normal] {
			kept = append(kept, n)
		}
		seen[n.normal] = true
	}
	return kept
}

func joinString(prev, next *node) *node {
	h := &how{strategy: "replace"}
	if next.how != nil {
		*h = *next.how
	}
	if h.dedup == nil && prev.how != nil && (prev.kind == '"' || prev.raw == nil) {
		h.dedup = prev.how.dedup
	}
	joined := &node{kind: '"', raw: next.raw, how: h, sources: next.sources}
	if next.how == nil && h.dedup == nil {
		joined.how = nil
	}
	if h.strategy == "replace" || prev.kind != '"' {
		return joined
	}
	joined.sources = unionSources(prev.sources, next.sources)
	if next.raw == nil {
		joined.raw = prev.raw
		return joined
	}
	joined.raw = jsonspan.Quoted(joinText(jsonspan.Text(prev.raw), jsonspan.Text(next.raw), h))
	return joined
}

func joinText(prev, next string, h *how) string {
	switch {
	case prev == "":
		return next
	case next == "" || holds(prev, next, h.dedup):
		return prev
	case h.strategy == "prepend":
		return next + separator(h) + prev
	default:
		return prev + separator(h) + next
	}
}

func separator(h *how) string {
	switch h.separator {
	case "none":
		return ""
	case "space":
		return " "
	case "line":
		return "\n"
	default:
		return "\n\n"
	}
}

// holds reports whether text already has part, by the given dedup setting.
func holds(text, part string, dedup []byte) bool {
	switch string(dedup) {
	case "false", `"off"`:
		return false
	case `"exact"`:
		return text == part
	case `"contains"`:
		return strings.Contains(text, part)
	default:
		return holdsBlock(text, part)
	}
}

// holdsBlock reports whether text has part between line breaks.
func holdsBlock(text, part string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(part)
		begins := start == 0 || strings.IndexByte("\r\n", text[start-1]) >= 0
		if begins && (end == len(text) || strings.IndexByte("\r\n", text[end]) >= 0) {
			return true
		}
		from = start + 1
	}
}
