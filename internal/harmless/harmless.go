package harmless

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/internal/exact"
)

// Table is the table as Markdown, as docs/security.md shows it.
//
//go:embed table.md
var Table string

// A Kind says how a value is judged, and how it is combined with the user's own.
type Kind string

// The kinds.
const (
	Text      Kind = "text"      // any scalar
	Prompt    Kind = "prompt"    // text that is added to the user's own
	List      Kind = "list"      // elements that are added to the user's own
	Word      Kind = "word"      // one of a few
	Whole     Kind = "whole"     // a whole number within bounds
	Number    Kind = "number"    // a number within bounds
	Model     Kind = "model"     // a name, or a provider and a name
	Reasoning Kind = "reasoning" // an effort, or tokens within bounds
	Longer    Kind = "longer"    // a duration that is longer than the one in effect without it
)

// A Row is one key of the table.
type Row struct {
	Key    string // dotted; a * matches any name
	Kind   Kind
	Yields bool // counts only if the user sets nothing
	words  []string
	low    float64
	high   float64 // the bound of bytes, too
	path   []string
}

// rows parses the table once. It is part of the program: a fault in it is ours.
var rows = sync.OnceValue(func() []Row {
	all, err := parse(Table)
	if err != nil {
		panic(err)
	}
	return all
})

// Find returns the row of a key.
func Find(path []string) (Row, bool) {
	for _, r := range rows() {
		if match(r.path, path) {
			return r, true
		}
	}
	return Row{}, false
}

func match(pattern, path []string) bool {
	return slices.EqualFunc(pattern, path, func(p, name string) bool {
		return p == "*" || p == name
	})
}

// Admits reports whether a value, as JSON, is within the bounds of the row. The caller checks
// whether a duration is longer.
func (r Row) Admits(value []byte) bool {
	switch r.Kind {
	case Text:
		return isScalar(value) && len(value) <= int(r.high)
	case Prompt:
		var s string
		return exact.Unmarshal(value, &s) == nil && len(value) <= int(r.high)
	case List:
		return bytes.HasPrefix(value, []byte("[")) && len(value) <= int(r.high)
	case Word:
		return slices.Contains(r.words, word(value))
	case Whole:
		n, err := strconv.ParseInt(string(value), 10, 64)
		return err == nil && float64(n) >= r.low && float64(n) <= r.high
	case Number:
		f, err := strconv.ParseFloat(string(value), 64)
		return err == nil && f >= r.low && f <= r.high
	case Model:
		return isModel(value)
	case Reasoning:
		return r.isReasoning(value)
	default:
		return false
	}
}

func isScalar(value []byte) bool {
	return len(value) > 0 && value[0] != '{' && value[0] != '['
}

// word returns a scalar as a word.
func word(value []byte) string {
	var s string
	if exact.Unmarshal(value, &s) == nil && string(value) != "null" {
		return s
	}
	return string(value)
}

// maxName is the length of the longest name of a model.
const maxName = 200

func isModel(value []byte) bool {
	var name string
	if exact.Unmarshal(value, &name) == nil {
		return name != "" && len(name) <= maxName
	}
	var table map[string]string
	return exact.Unmarshal(value, &table) == nil && len(table) == 2 &&
		table["provider"] != "" && table["name"] != "" && len(value) <= 2*maxName
}

func (r Row) isReasoning(value []byte) bool {
	var table map[string]json.RawMessage
	if exact.Unmarshal(value, &table) != nil {
		return r.isEffort(value)
	}
	for key, v := range table {
		switch key {
		case "exclude":
			if s := string(v); s != "true" && s != "false" && s != "null" {
				return false
			}
		case "effort", "absolute", "max_tokens":
			var deeper struct {
				Absolute json.RawMessage `json:"absolute"`
			}
			if exact.Unmarshal(v, &deeper) == nil && deeper.Absolute != nil {
				v = deeper.Absolute // {"effort": {"absolute": 1000}}
			}
			if string(v) != "null" && !r.isEffort(v) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (r Row) isEffort(value []byte) bool {
	switch word(value) {
	case "off", "auto", "none", "xlow", "low", "medium", "high", "xhigh", "max", "false":
		return true
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	return err == nil && n >= 0 && float64(n) <= r.high
}

// parse reads the table.
func parse(table string) (all []Row, err error) {
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 3 {
			return nil, fmt.Errorf("line %d of the table has %d cells", i+1, len(cells))
		}
		if i < 2 {
			continue // the head
		}
		r, err := parseBound(strings.TrimSpace(cells[1]))
		if err != nil {
			return nil, fmt.Errorf("line %d of the table: %w", i+1, err)
		}
		for key := range strings.SplitSeq(cells[0], "`, `") {
			for _, key := range Spell(written(strings.Trim(key, " `"))) {
				r.Key, r.path = key, strings.Split(key, ".")
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// written expands the words in capitals.
func written(key string) string {
	return strings.NewReplacer(
		"ASSISTANT", "{assistant,conversation.inquiry.assistant}",
		"MODEL", "{assistant.model,conversation.inquiry.assistant.model,"+
			"conversation.title.generate.model,style.reasoning.summary_model}",
	).Replace(key)
}

// parseBound parses the column of admitted values.
func parseBound(text string) (r Row, err error) {
	text, r.Yields = strings.CutSuffix(text, ", where you say nothing")
	kind, rest, _ := strings.Cut(strings.TrimPrefix(text, "`"), "`")
	r.Kind, rest = Kind(kind), strings.TrimSpace(rest)
	switch r.Kind {
	case Word:
		r.words = strings.Split(rest, ", ")
	case Whole, Number:
		_, err = fmt.Sscanf(rest, "%g to %g", &r.low, &r.high)
	case Text, Prompt, List:
		_, err = fmt.Sscanf(rest, "up to %g bytes", &r.high)
	case Reasoning:
		_, err = fmt.Sscanf(rest, "up to %g tokens", &r.high)
	case Model, Longer:
	default:
		err = fmt.Errorf("unknown kind %q", kind)
	}
	return r, err
}

// Spell expands the alternatives in the braces of a key.
func Spell(key string) []string {
	open := strings.IndexByte(key, '{')
	if open < 0 {
		return []string{key}
	}
	end := open + strings.IndexByte(key[open:], '}')
	var all []string
	for word := range strings.SplitSeq(key[open+1:end], ",") {
		all = append(all, Spell(key[:open]+word+key[end+1:])...)
	}
	return all
}
