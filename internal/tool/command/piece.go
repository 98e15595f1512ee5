package command

import (
	"slices"
	"strings"
)

// A Piece is a part of a word: text or an expression.
type Piece struct {
	Text string
	Expr bool
}

// Pieces splits a word; ok is false if it has statements.
func Pieces(s string) (all []Piece, ok bool) {
	if strings.Contains(s, "{%") || strings.Contains(s, "{#") {
		return nil, false
	}
	for s != "" {
		start, end := placeholder(s)
		if end < 0 {
			return append(all, Piece{Text: s}), true
		}
		if start > 0 {
			all = append(all, Piece{Text: s[:start]})
		}
		all = append(all, Piece{Text: expression(s[start:end]), Expr: true})
		s = s[end:]
	}
	return all, true
}

// placeholder finds the first {{ }} of s; end is -1 if there is none.
func placeholder(s string) (start, end int) {
	start = strings.Index(s, "{{")
	if start < 0 {
		return 0, -1
	}
	end = strings.Index(s[start:], "}}")
	if end < 0 {
		return 0, -1
	}
	return start, start + end + len("}}")
}

// expression returns the expression in a placeholder.
func expression(placeholder string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(placeholder, "{{"), "}}")
	return strings.TrimSpace(strings.Trim(inner, "-"))
}

// ours are the names whose values a model cannot influence.
var ours = []string{
	"context", "tool.name", "tool.action", "tool.options",
}

// isModelled reports whether the value of an expression may come from a model.
func isModelled(expr string) bool {
	return !slices.ContainsFunc(ours, func(name string) bool {
		return expr == name || strings.HasPrefix(expr, name+".") && isPath(expr)
	})
}

// isPath reports whether an expression is only a name.
func isPath(expr string) bool {
	return strings.IndexFunc(expr, func(r rune) bool {
		return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') &&
			(r < 'A' || r > 'Z')
	}) < 0
}
