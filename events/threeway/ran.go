package threeway

import (
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events/internal/jsonspan"
	"github.com/git-jp/git-jp/events/settings"
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

// ran returns what a turn ran under: what was in force before it, without the keys that its
// turn_start notes.
func (c *configCache) ran(inForce settings.Config, unset []string) settings.Config {
	k := ranKey{inForce, strings.Join(unset, "\x00")}
	if known, ok := c.rans[k]; ok {
		return known
	}
	ran := inForce.WithoutPointers(unset).WithoutNulls()
	c.rans[k] = ran
	return ran
}

type ranKey struct {
	config settings.Config
	unset  string
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
func restore(inForce, want settings.Config) (delta jsontext.Value, unset []string) {
	delta, lost := settings.DiffPaths(inForce, want)
	plain := jsonspan.Rewriter{Number: jsonspan.PlainNumber}.Rewrite(delta)
	sorted, err := jsontext.AppendFormat(nil, plain, jsontext.ReorderRawObjects(true))
	if err != nil {
		return delta, pointersOf(lost) // it cannot be: it was made of what was read
	}
	return sorted, pointersOf(lost)
}
