package command

import (
	"encoding/json"
	"regexp/syntax"
	"slices"
	"strings"
)

// A Reach says what of a model's text gets where.
type Reach struct {
	// Shell are the parameters whose text is given to something that is known to run what it is
	// given, "*" for all of them.
	Shell []string
	// Option are those that a program may take for an option: nothing stands before them.
	Option []string
}

// ReachOf looks at a command. Parameters are the schemas of its tool, as they are declared.
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
			if !p.Expr || !Modelled(p.Text) {
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

// free returns the parameters that an expression gives and that can be any text.
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

// Bound reports whether a parameter can be but certain texts: one of a list, a number, or what
// a pattern says from its beginning to its end.
func Bound(schema json.RawMessage) bool {
	var s struct {
		Type    json.RawMessage   `json:"type"`
		Enum    []json.RawMessage `json:"enum"`
		Const   json.RawMessage   `json:"const"`
		Pattern string            `json:"pattern"`
		Items   json.RawMessage   `json:"items"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	var types []string
	var one string
	if json.Unmarshal(s.Type, &types) != nil && json.Unmarshal(s.Type, &one) == nil {
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

// anchored reports whether a pattern says all of a text.
func anchored(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) < 2 {
		return false
	}
	return re.Sub[0].Op == syntax.OpBeginText && re.Sub[len(re.Sub)-1].Op == syntax.OpEndText
}
