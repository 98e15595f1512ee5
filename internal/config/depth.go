package config

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxDepth limits the nesting of tables and lists in a configuration file. No meaningful file comes
// near it, and code that names each value by its full path takes time quadratic in the depth.
const maxDepth = 100

var errTooDeep = fmt.Errorf("nested more than %d levels deep", maxDepth)

// shallow refuses a TOML file that is too deep or has too many keys, before it is decoded: go-toml
// compares each key with all keys before it. It does not report invalid TOML.
func shallow(data []byte) error {
	var p unstable.Parser
	p.Reset(data)
	table, keys := 0, 0
	for p.NextExpression() {
		e := p.Expression()
		var depth int
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = segments(e)
			depth = table
		case unstable.KeyValue:
			depth = table + deepest(e)
		default:
			continue
		}
		var err error
		if keys += keysOf(e); keys > maxKeys {
			err = errTooMany
		}
		if depth > maxDepth {
			err = errTooDeep
		}
		if err != nil {
			it := e.Key()
			it.Next()
			return &placedError{positionAt(data, int(it.Node().Raw.Offset)), err}
		}
	}
	return nil
}

// keysOf counts a header or a key, and the keys of inline tables.
func keysOf(e *unstable.Node) int {
	n := 0
	switch e.Kind {
	case unstable.Table, unstable.ArrayTable:
		return 1
	case unstable.KeyValue:
		return 1 + keysOf(e.Value())
	case unstable.Array, unstable.InlineTable:
		for it := e.Children(); it.Next(); {
			n += keysOf(it.Node())
		}
	}
	return n
}

func segments(e *unstable.Node) int {
	n := 0
	for it := e.Key(); it.Next(); {
		n++
	}
	return n
}

// deepest returns the number of levels of a node. The parser limits its recursion.
func deepest(e *unstable.Node) int {
	switch e.Kind {
	case unstable.KeyValue:
		return segments(e) + deepest(e.Value())
	case unstable.Array:
		return 1 + deepestBelow(e)
	case unstable.InlineTable:
		return deepestBelow(e) // its keys count the level
	default:
		return 0
	}
}

func deepestBelow(e *unstable.Node) int {
	most := 0
	for it := e.Children(); it.Next(); {
		most = max(most, deepest(it.Node()))
	}
	return most
}

// maxKeys limits the number of values in a configuration file, including those of lists.
const maxKeys = 10_000

var errTooMany = fmt.Errorf("more than %d values", maxKeys)

// bounded refuses decoded data that is too deep or too large; the decoder limits its own recursion.
func bounded(tree map[string]any, depth int) error {
	left := maxKeys
	return boundedTree(tree, depth, &left)
}

func boundedTree(v any, depth int, left *int) error {
	if depth < 0 {
		return errTooDeep
	}
	if *left--; *left < 0 {
		return errTooMany
	}
	var below iter.Seq[any]
	switch v := v.(type) {
	case map[string]any:
		below = maps.Values(v)
	case map[any]any:
		below = maps.Values(v)
	case []any:
		below = slices.Values(v)
	default:
		return nil
	}
	for sub := range below {
		if err := boundedTree(sub, depth-1, left); err != nil {
			return err
		}
	}
	return nil
}
