package threeway

import (
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// A config_delta cannot remove a key. If another branch set a key before a turn that ran without
// it, no delta can restore the turn's configuration. Instead the turn_start lists in MetadataUnset
// the keys that the turn ran without. jp keeps metadata, including keys that it does not know. The
// list applies to its turn alone; later turns run with what the deltas give, as jp computes it.
//
// With these lists each file records exactly the configuration that each of its turns ran with.
// Therefore seams do not depend on the order in which branches are merged: they follow from those
// configurations, the deltas and the order of the turns.

// ran returns the configuration that a turn ran with: the one in force before it, without the keys
// that its turn_start lists.
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

// pointersOf returns paths as JSON pointers, sorted.
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

// restore returns the delta from the configuration in force to the one that a turn ran with, "{}"
// if they are equal, and the keys that the turn ran without. The delta is written the same whatever
// the order in which its keys were set.
func restore(inForce, want settings.Config) (delta jsontext.Value, unset []string) {
	delta, lost := settings.DiffPaths(inForce, want)
	plain := jsonspan.Rewriter{Number: jsonspan.PlainNumber}.Rewrite(delta)
	sorted, err := jsontext.AppendFormat(nil, plain, jsontext.ReorderRawObjects(true))
	if err != nil {
		return delta, pointersOf(lost) // unreachable: delta was built from valid JSON
	}
	return sorted, pointersOf(lost)
}
