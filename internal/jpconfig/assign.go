package jpconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/exact"
)

// An assignment sets one key: a.b=c, a.b:=json, a.b+=c, a.b:+=json.
type assignment struct {
	path   []string
	text   string
	isJSON bool
	merge  bool
	kind   kind // of the key
}

// optionAssignment reads an assignment of the command line.
func optionAssignment(option string) assignment {
	name, text, _ := strings.Cut(option, "=")
	a := assignment{text: text}
	a.path = strings.Split(a.signs(name, strings.CutSuffix), ".")
	return a
}

// signs reads ":" and "+" at one end of a text, each at most once, and returns the rest.
func (a *assignment) signs(s string, cut func(s, sign string) (string, bool)) string {
	for {
		if rest, ok := cut(s, ":"); ok && !a.isJSON {
			s, a.isJSON = rest, true
		} else if rest, ok := cut(s, "+"); ok && !a.merge {
			s, a.merge = rest, true
		} else {
			return s
		}
	}
}

// environmentAssignment parses the value of a variable, in which ":" and "+" precede the text and a
// backslash escapes them.
func environmentAssignment(path []string, value string) assignment {
	a := assignment{path: path}
	a.text = a.signs(value, strings.CutPrefix)
	if strings.HasPrefix(a.text, `\:`) || strings.HasPrefix(a.text, `\+`) {
		a.text = a.text[1:]
	}
	return a
}

var errNotDotted = errors.New("not a dotted name")

// delta returns the assignment as a configuration to merge.
func (a assignment) delta() ([]byte, error) {
	v, err := a.value()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(a.path) {
		v = map[string]any{name: v}
	}
	return json.Marshal(v)
}

func (a assignment) value() (any, error) {
	if a.isJSON {
		var v any
		if err := exact.Unmarshal([]byte(a.text), &v); err != nil {
			return nil, fmt.Errorf("value is not JSON: %w", err)
		}
		return a.joined(v), nil
	}
	switch a.kind {
	case kindList:
		return a.joined(words(a.text)), nil
	case kindPrompt:
		return a.joined(a.text), nil
	case kindBool:
		b, err := strconv.ParseBool(a.text)
		if err != nil {
			return nil, fmt.Errorf("expected true or false, found %q", a.text)
		}
		return b, nil
	case kindNumber:
		if !json.Valid([]byte(a.text)) {
			return nil, fmt.Errorf("expected a number, found %q", a.text)
		}
		n := json.Number(a.text)
		if _, err := n.Float64(); err != nil {
			return nil, fmt.Errorf("expected a number, found %q", a.text)
		}
		return n, nil
	case kindLoose, kindAny:
		return loose(a.text), nil
	default:
		return a.text, nil
	}
}

// loose parses a value that may be a word, a number, or true or false.
func loose(text string) any {
	var v any
	if exact.Unmarshal([]byte(text), &v) == nil {
		switch v.(type) {
		case bool, float64:
			return json.RawMessage(text)
		}
	}
	return text
}

// words splits a list at its commas.
func words(text string) []string {
	list := []string{}
	for w := range strings.SplitSeq(text, ",") {
		if w = strings.TrimSpace(w); w != "" {
			list = append(list, w)
		}
	}
	return list
}

// joined returns v in the form in which it is merged. A list replaces the old one, unless it is
// appended. A table is always merged key by key, as in jp.
func (a assignment) joined(v any) any {
	_, isText := v.(string)
	switch v.(type) {
	case []any, []string:
		if a.kind != kindList {
			return v
		}
		if !a.merge {
			return map[string]any{"value": v, "strategy": "replace"}
		}
	}
	if isText && a.kind == kindPrompt && a.merge {
		return map[string]any{"value": v, "strategy": "append"}
	}
	if isText && a.kind == kindList { // a JSON string is a list with one element
		return a.joined(words(v.(string)))
	}
	return v
}
