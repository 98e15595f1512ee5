package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// join returns path as a dotted TOML key, with quotes where needed.
func join(path []string) string {
	parts := make([]string, len(path))
	for i, seg := range path {
		parts[i] = quoteKey(seg)
	}
	return strings.Join(parts, ".")
}

func quoteKey(seg string) string {
	bare := func(r rune) bool {
		return r == '-' || r == '_' || '0' <= r && r <= '9' ||
			'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if seg != "" && strings.IndexFunc(seg, func(r rune) bool { return !bare(r) }) < 0 {
		return seg
	}
	return quote(seg)
}

// JoinKey returns a path as the dotted key that [SplitKey] parses.
func JoinKey(path []string) string { return join(path) }

// split parses a dotted TOML key.
func split(name string) ([]string, error) {
	var p unstable.Parser
	p.Reset([]byte(name + " = 0"))
	if !p.NextExpression() || p.Expression().Kind != unstable.KeyValue {
		return nil, fmt.Errorf("key %s: not a dotted name", strconv.Quote(name))
	}
	path := keyOf(p.Expression())
	if p.NextExpression() || p.Error() != nil {
		return nil, fmt.Errorf("key %s: not a dotted name", strconv.Quote(name))
	}
	return path, nil
}

// keyOf copies the key of a key-value or a table header out of the parser.
func keyOf(n *unstable.Node) []string {
	var path []string
	for it := n.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
	}
	return path
}

// Covers reports whether keys has key or a prefix of it. An empty list covers all keys.
func Covers(keys []string, key string) bool {
	for _, k := range keys {
		if key == k || strings.HasPrefix(key, strings.TrimSuffix(k, ".")+".") {
			return true
		}
	}
	return len(keys) == 0
}

// A SettingError is an invalid key or value on a command line.
type SettingError struct {
	Err error
	Key string // if the key is invalid, else ""
	// Unset says that nothing is wrong with the key, except that it has no value.
	Unset bool
}

// Error implements error.
func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *SettingError) Unwrap() error { return e.Err }
