package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/pelletier/go-toml/v2/unstable"
)

// JoinKey returns path as a dotted TOML key, with quotes where needed.
func JoinKey(path []string) string { return strings.Join(lists.Map(path, quoteKey), ".") }

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

// SplitKey parses a dotted TOML key.
func SplitKey(name string) ([]string, error) {
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
