package config

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxDepth is how many tables and lists of a configuration file may lie in each other.
// Nothing that means something comes near it, and what names every place by its whole path
// takes time by the square of the depth.
const maxDepth = 100

var errTooDeep = fmt.Errorf("nested more than %d levels deep", maxDepth)

// shallow refuses a TOML file that is too deep, by its words alone. What is no TOML is not
// its business.
func shallow(data []byte) error {
	var p unstable.Parser
	p.Reset(data)
	table := 0
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
		if depth > maxDepth {
			it := e.Key()
			it.Next()
			return &placedError{positionAt(data, int(it.Node().Raw.Offset)), errTooDeep}
		}
	}
	return nil
}

func segments(e *unstable.Node) int {
	n := 0
	for it := e.Key(); it.Next(); {
		n++
	}
	return n
}

// deepest returns how many levels a node has. The parser bounds how deep it recurses.
func deepest(e *unstable.Node) int {
	switch e.Kind {
	case unstable.KeyValue:
		return segments(e) + deepest(e.Value())
	case unstable.Array:
		return 1 + deepestBelow(e)
	case unstable.InlineTable:
		return deepestBelow(e) // its keys are what leads deeper
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

// shallowJSON is shallow for JSON and JSON5, whose reader recurses without a bound.
func shallowJSON(data []byte) error {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '"', '\'', '/':
			i += skipped(data[i:]) - 1
		case '[', '{':
			if depth++; depth > maxDepth {
				return &placedError{positionAt(data, i), errTooDeep}
			}
		case ']', '}':
			depth--
		}
	}
	return nil
}

// skipped returns the length of the string or comment with which JSON5 begins, 1 for a
// slash that begins none.
func skipped(data []byte) int {
	upTo := func(end string) int {
		if n := bytes.Index(data[2:], []byte(end)); n >= 0 {
			return 2 + n + len(end)
		}
		return len(data)
	}
	switch {
	case bytes.HasPrefix(data, []byte("//")):
		return upTo("\n")
	case bytes.HasPrefix(data, []byte("/*")):
		return upTo("*/")
	case data[0] == '/':
		return 1
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case data[0]:
			return i + 1
		}
	}
	return len(data)
}

// shallowTree is shallow for what is decoded, by a reader that bounds how deep it recurses.
func shallowTree(v any, above int) error {
	if above > maxDepth {
		return errTooDeep
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
		if err := shallowTree(sub, above+1); err != nil {
			return err
		}
	}
	return nil
}
