package settings

import (
	"fmt"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/go-json-experiment/json/jsontext"
)

// A Config is a partial configuration of jp: base_config.json, the delta of a [ConfigDelta], or a
// configuration file as JSON. Each value in it records its source, a number that the caller
// assigns. A Config is immutable; the zero value is empty.
//
// A list, a string or a map may be wrapped in an object that defines how it is merged with earlier
// values:
//
//	{"value": …, "strategy": "append", "separator": "paragraph",
//	 "dedup": true, "discard_when_merged": false}
type Config struct {
	root *node
}

// A node is a value of a Config. The elements of a list are opaque.
type node struct {
	kind    byte // '{', '[', '"', or 0 for every other
	members []configMember
	items   []*node
	raw     []byte // of a string, another scalar, or an element of a list
	normal  string // of an element of a list: the normal form, the same for equal elements
	how     *how   // nil if the value is not wrapped
	sources []int  // sorted; an object has its own, which matter if it is empty
}

type configMember struct {
	name  string
	value *node
}

// A how holds the members of the object that wraps a value.
type how struct {
	strategy, separator string
	dedup               []byte // nil if unset
	discard             []byte // nil if absent
}

func (h *how) discards() bool { return h != nil && string(h.discard) == "true" }

// Parse reads a JSON object.
func Parse(v jsontext.Value, source int) (Config, error) {
	if err := events.CheckObject(v); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	i := jsonspan.SkipSpace(v, 0)
	end, depth := jsonspan.Measure(v, i)
	if depth > events.MaxDepth {
		return Config{}, fmt.Errorf("configuration: %w", events.ErrTooDeep)
	}
	p := configParser{sources: []int{source}}
	return Config{p.object(v[i:end])}.read(), nil
}

// A configParser keeps track of its path in the configuration.
type configParser struct {
	path    []string
	sources []int
}

func (p *configParser) value(v []byte) *node {
	if jsonspan.IsObject(v) {
		if n := p.wrapped(v); n != nil {
			return n
		}
		if p.place() != placeWhole {
			return p.object(v)
		}
	}
	return p.plain(v)
}

func (p *configParser) object(v []byte) *node {
	n := &node{kind: '{', sources: p.sources}
	for _, m := range jsonspan.Members(v) {
		p.path = append(p.path, m.Name)
		n.members = append(n.members, configMember{m.Name, p.value(m.Value(v))})
		p.path = p.path[:len(p.path)-1]
	}
	return n
}

// plain reads a value that is not an object.
func (p *configParser) plain(v []byte) *node {
	n := &node{raw: jsonspan.Compact(v), sources: p.sources}
	switch {
	case jsonspan.IsString(v):
		n.kind = '"'
	case jsonspan.IsArray(v) && p.place() != placeWhole:
		n.kind, n.raw = '[', nil
		for _, s := range jsonspan.Elements(v, 0) {
			raw := jsonspan.Compact(v[s.At:s.End])
			n.items = append(n.items, &node{
				raw: raw, normal: normalItem(p.path, raw), sources: p.sources,
			})
		}
	}
	return n
}

// wrapped reads an object that defines how its value is merged, or returns nil if v is not one.
func (p *configParser) wrapped(v []byte) *node {
	ms := jsonspan.Members(v)
	if !p.wraps(v, ms) {
		return nil
	}
	h := &how{}
	n := &node{sources: p.sources}
	for _, m := range ms {
		value := m.Value(v)
		switch {
		case m.Name == "value" && jsonspan.IsObject(value):
			n = p.object(value)
		case m.Name == "value":
			n = p.plain(value)
		case m.Name == "discard_when_merged":
			h.discard = jsonspan.Compact(value)
		case m.Name == "dedup" && !jsonspan.IsNull(value) && string(value) != `"inherit"`:
			h.dedup = jsonspan.Compact(value)
		case m.Name == "strategy" && jsonspan.IsString(value):
			h.strategy = jsonspan.Text(value)
		case m.Name == "separator" && jsonspan.IsString(value):
			h.separator = jsonspan.Text(value)
		}
	}
	n.how = h
	return n
}

// wraps reports whether an object wraps a value. A table that happens to have a key "value" is not
// a wrapper.
func (p *configParser) wraps(v []byte, ms []jsonspan.Member) bool {
	place := p.place()
	if place == placeWhole || len(ms) == 0 || slices.ContainsFunc(ms, func(m jsonspan.Member) bool {
		return !slices.Contains([]string{
			"value", "strategy", "separator", "dedup", "discard_when_merged",
		}, m.Name)
	}) {
		return false
	}
	m, ok := jsonspan.Find(ms, "value")
	if !ok {
		return p.path[len(p.path)-1] == "system_prompt"
	}
	if _, said := jsonspan.Find(ms, "strategy"); said {
		return true
	}
	return place == placeCommon && (jsonspan.IsString(m.Value(v)) || jsonspan.IsArray(m.Value(v)))
}

// Plain returns the configuration as an object of bare values, without merge strategies.
func (c Config) Plain() jsontext.Value {
	root := c.stored().root
	if root == nil {
		return jsontext.Value("{}")
	}
	return root.append(nil)
}

// append appends the bare value.
func (n *node) append(b []byte) []byte {
	switch n.kind {
	case '{':
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.value.append(append(jsonspan.Quote(b, m.name), ':'))
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, item.raw...)
		}
		return append(b, ']')
	default:
		if n.raw == nil {
			return append(b, "null"...)
		}
		return append(b, n.raw...)
	}
}

// A Setting is a value of a Config.
type Setting struct {
	node *node
}

// Setting returns the value at path. An empty path returns the Config itself.
func (c Config) Setting(path ...string) (Setting, bool) {
	n := c.root
	if isOther(path) {
		n = c.stored().root
	}
	for _, name := range Path(path) {
		if n = n.member(name); n == nil {
			return Setting{}, false
		}
	}
	return Setting{n}, n != nil
}

func (n *node) member(name string) *node {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// Value returns the bare value, as [Config.Plain] writes it.
func (s Setting) Value() jsontext.Value { return s.node.append(nil) }

// Names returns the names of an object's members in order.
func (s Setting) Names() []string {
	return lists.Map(s.node.members, func(m configMember) string { return m.name })
}

// Items returns the elements of a list.
func (s Setting) Items() []Setting {
	return lists.Map(s.node.items, func(n *node) Setting { return Setting{n} })
}

// Sources returns the sources that contributed to the value, sorted.
func (s Setting) Sources() []int {
	var all []int
	s.node.collect(&all)
	slices.Sort(all)
	return slices.Compact(all)
}

func (n *node) collect(all *[]int) {
	*all = append(*all, n.sources...)
	for _, m := range n.members {
		m.value.collect(all)
	}
	for _, item := range n.items {
		item.collect(all)
	}
}
