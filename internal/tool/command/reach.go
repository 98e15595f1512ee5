package command

import (
	"encoding/json"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/exact"
)

// A Reach lists the parameters by which text of a model reaches a program.
type Reach struct {
	// Shell are the parameters whose values are passed to a program that is known to run its
	// arguments; "*" for all parameters.
	Shell []string
	// Option are the parameters that a program may take for an option, since no text precedes them.
	Option []string
}

// ReachOf analyses a command. Parameters are the declared schemas of its tool.
func ReachOf(words []string, shell bool, parameters map[string]json.RawMessage) (r Reach) {
	runs, dashes := false, false
	if shell {
		words = strings.Fields(strings.Join(words, " "))
	}
	for i, w := range words {
		bare := strings.Trim(w, "\"';()|&")
		runs = runs || (i == 0 || shell || slices.Contains(prefixes, Base(words[0]))) && Runs(bare)
		dashes = dashes || w == "--"
		pieces, ok := Pieces(w)
		if !ok {
			pieces = []Piece{{Text: "*", Expr: true}}
		}
		for j, p := range pieces {
			if !p.Expr || !isModelled(p.Text) {
				continue
			}
			for _, name := range free(p.Text, parameters) {
				switch {
				case runs && !slices.Contains(r.Shell, name):
					r.Shell = append(r.Shell, name)
				case !runs && j == 0 && !dashes && !slices.Contains(r.Option, name):
					r.Option = append(r.Option, name)
				}
			}
		}
	}
	return r
}

// free returns the parameters in an expression that can have any text.
func free(expr string, parameters map[string]json.RawMessage) []string {
	name, ok := strings.CutPrefix(expr, "tool.arguments.")
	if i := strings.IndexAny(name, " .|["); ok && i >= 0 {
		name = name[:i]
	}
	if schema, declared := parameters[name]; ok && declared {
		if Bound(schema) {
			return nil
		}
		return []string{name}
	}
	for _, schema := range parameters {
		if !Bound(schema) {
			return []string{"*"}
		}
	}
	return nil
}

// Bound reports whether a parameter has a restricted set of values: a list, a number, or a pattern
// that matches the complete text.
func Bound(schema json.RawMessage) bool {
	var s struct {
		Type    json.RawMessage   `json:"type"`
		Enum    []json.RawMessage `json:"enum"`
		Const   json.RawMessage   `json:"const"`
		Pattern string            `json:"pattern"`
		Items   json.RawMessage   `json:"items"`
	}
	if exact.Unmarshal(schema, &s) != nil {
		return false
	}
	var types []string
	var one string
	if exact.Unmarshal(s.Type, &types) != nil && exact.Unmarshal(s.Type, &one) == nil {
		types = []string{one}
	}
	switch {
	case s.Enum != nil || s.Const != nil,
		anchored(s.Pattern) && slices.Equal(types, []string{"string"}):
		return true
	case slices.Equal(types, []string{"array"}):
		return s.Items != nil && Bound(s.Items)
	}
	return len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool {
		return !slices.Contains([]string{"integer", "number", "boolean", "null"}, t)
	})
}

// anchored reports whether a pattern matches the complete text.
func anchored(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) < 2 {
		return false
	}
	return re.Sub[0].Op == syntax.OpBeginText && re.Sub[len(re.Sub)-1].Op == syntax.OpEndText
}
