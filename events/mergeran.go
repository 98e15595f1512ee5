package events

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A config_delta cannot remove a key. So where another branch set one before a turn that
// ran without it, no delta restores what the turn ran under, and the turn_start notes in
// MetadataUnset which keys it ran without. jp keeps metadata, also of keys that it does not
// know. The note is about its turn alone: what follows runs under what the deltas give, as jp
// computes it.
//
// With the note each file says of each turn in it exactly what the turn ran under, which is
// the reason that seams do not depend on the order in which branches meet: they follow from
// that, from the deltas, and from the order of the turns.

// MetadataUnset is the key of that note, an array of JSON pointers.
const MetadataUnset = MetadataPrefix + "unset"

// ran returns what a turn ran under: what was in force before it, without the keys that its
// turn_start notes.
func (c *configCache) ran(inForce Config, unset []string) Config {
	k := ranKey{inForce.root, strings.Join(unset, "\x00")}
	if known, ok := c.rans[k]; ok {
		return known
	}
	ran := Config{inForce.withoutPointers(unset).root.withoutNulls(nil)}
	c.rans[k] = ran
	return ran
}

type ranKey struct {
	root  *node
	unset string
}

// withoutNulls returns a value without the members that say nothing.
func (n *node) withoutNulls(path []string) *node {
	if n == nil || n.kind != '{' {
		return n
	}
	out := *n
	out.members = make([]configMember, 0, len(n.members))
	changed := false
	for _, m := range n.members {
		at := append(slices.Clip(path), m.name)
		if m.value.saysNothing(at) {
			changed = true
			continue
		}
		value := m.value.withoutNulls(at)
		changed = changed || value != m.value
		out.members = append(out.members, configMember{m.name, value})
	}
	if !changed {
		return n
	}
	return &out
}

// pointersOf returns paths as JSON pointers, in order.
func pointersOf(paths [][]string) []string {
	var all []string
	for _, path := range paths {
		var p jsontext.Pointer
		for _, name := range path {
			p = p.AppendToken(name)
		}
		all = append(all, string(p))
	}
	slices.Sort(all)
	return all
}

// restore returns the delta that leads to what a turn ran under from what is in force before
// it, "{}" for none, and the keys that the turn ran without. It is written the same whatever
// the order in which its keys came to be set.
func restore(inForce, want Config) (delta jsontext.Value, unset []string) {
	delta, lost := diffConfig(inForce, want)
	plain := rewriter{number: plainNumber}.rewrite(delta)
	sorted, err := jsontext.AppendFormat(nil, plain, jsontext.ReorderRawObjects(true))
	if err != nil {
		return delta, pointersOf(lost) // it cannot be: it was made of what was read
	}
	return sorted, pointersOf(lost)
}
