package settings

import (
	"bytes"
	"slices"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/lists"
)

// A Verdict selects the configuration that decides a value.
type Verdict int

// The verdicts.
const (
	KeepOwn Verdict = iota // the own value, or none if there is none
	TakeAll                // the value of all
	AddTo                  // the own list or text, with what the other has beyond it
	Members                // for tables: judge member by member
)

// Judge combines two configurations: own, which the user answers for, and c (passed to judge as
// all), which others contributed to as well. Where they differ judge decides; its path is valid
// during the call only. A value that is judged [AddTo] keeps everything of own, in its order.
func (c Config) Judge(
	own Config, judge func(path []string, own, all Setting) Verdict,
) Config {
	j := configJudge{ask: judge}
	n := j.object(own.root, c.root)
	if n == nil {
		n = &node{kind: '{'}
	}
	return Config{n}
}

// IsSet reports whether there is a value.
func (s Setting) IsSet() bool { return s.node != nil }

// IsTable reports whether the value is an object.
func (s Setting) IsTable() bool { return s.node != nil && s.node.kind == '{' }

// IsList reports whether the value is a list that merging appends to.
func (s Setting) IsList() bool { return s.node != nil && s.node.kind == '[' }

// Holds reports whether s includes all of other in the same order: the elements of a list, or the
// text as a block.
func (s Setting) Holds(other Setting) bool { return beside(other.node, s.node) == s.node }

// A configJudge keeps track of its path in the configuration.
type configJudge struct {
	path []string
	ask  func(path []string, own, all Setting) Verdict
}

// object judges the members of two tables, either of which may be missing or another value.
func (j *configJudge) object(own, all *node) *node {
	joined := &node{kind: '{'}
	if own != nil && own.kind == '{' {
		joined.sources = own.sources
	} else {
		own = nil
	}
	if all != nil && all.kind == '{' {
		joined.sources = unionSources(joined.sources, all.sources)
	} else {
		all = nil
	}
	if own == nil && all == nil {
		return nil
	}
	for _, name := range memberNames(all, own) {
		j.path = append(j.path, name)
		if v := j.value(own.member(name), all.member(name)); v != nil {
			joined.members = append(joined.members, configMember{name, v})
		}
		j.path = j.path[:len(j.path)-1]
	}
	return joined
}

// memberNames returns the names of the members of tables, each once.
func memberNames(tables ...*node) (names []string) {
	seen := map[string]bool{}
	for _, n := range tables {
		if n == nil {
			continue
		}
		for _, m := range n.members {
			if !seen[m.name] {
				seen[m.name] = true
				names = append(names, m.name)
			}
		}
	}
	return names
}

func (j *configJudge) value(own, all *node) *node {
	if own != nil && all != nil && equalNodes(own, all) {
		return all
	}
	switch j.ask(j.path, Setting{own}, Setting{all}) {
	case TakeAll:
		return all
	case AddTo:
		return beside(own, all)
	case Members:
		if own != nil && own.kind != '{' {
			return own
		}
		return j.object(own, all)
	default:
		return own
	}
}

// equalNodes reports whether two values are equal.
func equalNodes(a, b *node) bool {
	x, y := a.append(nil), b.append(nil)
	return bytes.Equal(x, y) || bytes.Equal(jsonspan.Normal(x), jsonspan.Normal(y))
}

// beside adds to own what all has beyond it.
func beside(own, all *node) *node {
	switch {
	case own == nil || own.how.discards():
		return all
	case all == nil || own.kind != all.kind:
		return own
	case own.kind == '[':
		return addedItems(own, all)
	case own.kind == '"':
		return addedText(own, all)
	default:
		return own
	}
}

// addedItems returns all if it has the elements of own in their order; otherwise it appends the
// elements that own lacks to own.
func addedItems(own, all *node) *node {
	mine := lists.Set(lists.Map(own.items, func(n *node) string { return n.normal }))
	next := 0
	var others []*node
	for _, n := range all.items {
		switch {
		case next < len(own.items) && n.normal == own.items[next].normal:
			next++
		case !mine[n.normal]:
			others = append(others, n)
		}
	}
	if next == len(own.items) {
		return all
	}
	joined := *own
	joined.how = nil
	joined.items = slices.Concat(own.items, others)
	joined.sources = unionSources(own.sources, all.sources)
	return &joined
}

// addedText does the same for text, by blocks.
func addedText(own, all *node) *node {
	mine, theirs := jsonspan.Text(own.raw), jsonspan.Text(all.raw)
	switch {
	case holdsBlock(theirs, mine):
		return all
	case theirs == "" || holdsBlock(mine, theirs):
		return own
	}
	joined := *own
	joined.how, joined.raw = nil, jsonspan.Quoted(mine+separator(&how{})+theirs)
	joined.sources = unionSources(own.sources, all.sources)
	return &joined
}
