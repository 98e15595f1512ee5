package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
)

// tomlLiteral returns v, the parsed text, in TOML. Durations and sizes keep the user's spelling.
func tomlLiteral(k Key, text string, v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return floatLiteral(v)
	case int64:
		if k.Kind == Size && strings.TrimLeft(text, "0123456789") != "" {
			return quote(text)
		}
		return strconv.FormatInt(v, 10)
	case []string:
		return "[" + strings.Join(lists.Map(v, quote), ", ") + "]"
	case []any:
		parts := lists.Map(v, func(e any) string { return tomlLiteral(k, text, e) })
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, quoteKey(name)+" = "+tomlLiteral(k, text, v[name]))
		}
		if len(parts) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	default: // a duration
		return quote(text)
	}
}

func floatLiteral(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quote returns s as a basic string of TOML, whose escapes differ from Go's.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
