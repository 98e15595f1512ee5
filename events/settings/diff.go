package settings

import (
	"bytes"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/go-json-experiment/json/jsontext"
)

// Diff returns a delta that changes one configuration into another: merged into from, it gives the
// values of to. It has only what differs. A list that only grew at its end is written as the
// elements to append; any other changed list is written completely, with the strategy "replace",
// unless jp has none for it: then what is new is appended.
//
// A delta cannot remove a key, nor an element of such a list. Lost names the keys, dotted, that
// from has and to has not. They remain.
func Diff(from, to Config) (delta jsontext.Value, lost []string) {
	delta, paths := DiffPaths(from, to)
	for _, path := range paths {
		lost = append(lost, strings.Join(path, "."))
	}
	return delta, lost
}

// DiffPaths is [Diff] with the paths of the keys that remain.
func DiffPaths(from, to Config) (delta jsontext.Value, lost [][]string) {
	var d configDiffer
	delta = d.configs(from, to)
	if string(delta) == "{}" {
		return delta, d.lost // as nearly always in a merge, which compares at each turn
	}
	if is, will := from.stored(), to.stored(); is != from || will != to {
		delta = new(configDiffer).configs(is, will)
	}
	return delta, d.lost
}

// A configDiffer keeps track of its path in the configuration.
type configDiffer struct {
	path []string
	lost [][]string
}

func (d *configDiffer) configs(from, to Config) jsontext.Value {
	a, b := from.root, to.root
	if a == nil {
		a = &node{kind: '{'}
	}
	if b == nil {
		b = &node{kind: '{'}
	}
	return d.object(a, b)
}

// object returns the members of b that differ from those of a.
func (d *configDiffer) object(a, b *node) []byte {
	var fs []jsonspan.Field
	at := memberFinder(a.members, len(b.members))
	for _, m := range b.members {
		var was *node
		if i := at(m.name); i >= 0 {
			was = a.members[i].value
		}
		d.path = append(d.path, m.name)
		if v := d.value(was, m.value); v != nil {
			fs = append(fs, jsonspan.Field{Name: m.name, Value: v})
		}
		d.path = d.path[:len(d.path)-1]
	}
	at = memberFinder(b.members, len(a.members))
	for _, m := range a.members {
		d.path = append(d.path, m.name)
		if at(m.name) < 0 {
			d.lose(m.value)
		}
		d.path = d.path[:len(d.path)-1]
	}
	return jsonspan.Object(fs)
}

// lose notes that a value remains. Of [other] it names what is there: the path of the table means
// also the parameters that a Config has beside it.
func (d *configDiffer) lose(value *node) {
	switch {
	case value == nil, value.saysNothing(d.path):
	case value.kind == '{' && isOther(d.path):
		d.object(value, &node{kind: '{'})
	default:
		d.lost = append(d.lost, slices.Clone(d.path))
	}
}

// saysNothing reports whether the value at path is a null in a place where null means absent, or
// the empty table that jp writes where there are no other parameters.
func (n *node) saysNothing(path []string) bool {
	if n.kind == '{' && len(n.members) == 0 && isOther(path) {
		return true
	}
	isNull := n.kind == 0 && (n.raw == nil || string(n.raw) == "null")
	return isNull && !isFreeForm(placeOf(path))
}

// value returns the delta that changes a into b, or nil if none is needed.
func (d *configDiffer) value(a, b *node) []byte {
	switch {
	case a == b: // configurations share what a delta did not change
		return nil
	case b.saysNothing(d.path):
		d.lose(a)
		return nil
	case a == nil:
		return b.append(nil)
	case a.kind == '{' && b.kind == '{' && !a.how.discards():
		if v := d.object(a, b); string(v) != "{}" {
			return v
		}
		return nil
	case bytes.Equal(jsonspan.Normal(a.append(nil)), jsonspan.Normal(b.append(nil))):
		return nil
	case a.kind == '[' && b.kind == '[':
		return d.list(a, b)
	default:
		return b.append(nil)
	}
}

func (d *configDiffer) list(a, b *node) []byte {
	if slices.EqualFunc(a.items, b.items, func(x, y *node) bool { return x.normal == y.normal }) {
		return nil
	}
	whole := b.append(nil)
	if placeOf(d.path) != placeCommon {
		return whole // replaces as it is
	}
	if grew(a, b) {
		tail := &node{kind: '[', items: b.items[len(a.items):]}
		return tail.append(nil)
	}
	if onlyGrows(d.path) {
		return d.more(a, b)
	}
	fs := []jsonspan.Field{
		{Name: "value", Value: whole}, {Name: "strategy", Value: []byte(`"replace"`)},
	}
	if len(withoutRepetitions(b.items)) != len(b.items) {
		fs = append(fs, jsonspan.Field{Name: "dedup", Value: []byte("false")})
	}
	return jsonspan.Object(fs)
}

// more returns the elements of b that a lacks, nil for none. Those that b lacks remain.
func (d *configDiffer) more(a, b *node) []byte {
	if missing(a, b) != nil {
		d.lose(a)
	}
	tail := &node{kind: '[', items: missing(b, a)}
	if tail.items == nil {
		return nil
	}
	return tail.append(nil)
}

// missing returns the elements of one list that the other has not.
func missing(of, in *node) []*node {
	return lists.Filter(of.items, func(item *node) bool {
		return !slices.ContainsFunc(in.items, func(n *node) bool { return n.normal == item.normal })
	})
}

// grew reports whether b is a with more elements appended, and merging would append them.
func grew(a, b *node) bool {
	if len(b.items) <= len(a.items) || a.how.discards() ||
		len(withoutRepetitions(b.items)) != len(b.items) {
		return false
	}
	for i, item := range a.items {
		if item.normal != b.items[i].normal {
			return false
		}
	}
	return true
}
