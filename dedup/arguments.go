package dedup

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
)

// arguments holds the arguments of a call, by name.
type arguments map[string]any

func decode(v []byte) (arguments, bool) {
	args := arguments{}
	if len(v) == 0 {
		return args, true
	}
	return args, json.Unmarshal(v, &args) == nil && args != nil
}

func (a arguments) has(groups ...[]string) bool {
	return slices.ContainsFunc(slices.Concat(groups...), func(n string) bool {
		_, ok := a[n]
		return ok
	})
}

// only reports whether there are no arguments other than these.
func (a arguments) only(groups ...[]string) bool {
	known := slices.Concat(groups...)
	for name := range a {
		if !slices.Contains(known, name) {
			return false
		}
	}
	return true
}

// one returns the value of the only argument present under one of the names. If two are present it
// is unknown which one counts.
func one[T any](a arguments, names []string) (v T, ok bool) {
	n := 0
	for _, name := range names {
		if found, there := a[name]; there {
			v, ok = found.(T)
			n++
		}
	}
	return v, ok && n == 1
}

func (a arguments) text(names []string) (string, bool) { return one[string](a, names) }

func (a arguments) flag(names []string) (value, ok bool) { return one[bool](a, names) }

// line returns a line number, or 0 if it is absent; false if it is not a line number.
func (a arguments) line(names []string) (int, bool) {
	if !a.has(names) {
		return 0, true
	}
	n, ok := one[float64](a, names)
	return int(n), ok && n == float64(int(n)) && n > 0
}

// sets reads filters, each a string or a list of strings.
func (a arguments) sets(names []string) (map[string][]string, bool) {
	sets := map[string][]string{}
	for _, n := range names {
		v, there := a[n]
		if !there {
			continue
		}
		set, ok := wordsOf(v)
		if !ok {
			return nil, false
		}
		slices.Sort(set)
		sets[n] = slices.Compact(set)
	}
	return sets, true
}

// wordsOf reads a string or a list of strings. Some tools interpret a string that looks like a list
// as one.
func wordsOf(v any) ([]string, bool) {
	if word, ok := v.(string); ok {
		return []string{word}, word != "" && word[0] != '['
	}
	items, ok := v.([]any)
	if !ok {
		return nil, false
	}
	var set []string
	for _, item := range items {
		word, ok := item.(string)
		if !ok || word == "" {
			return nil, false
		}
		set = append(set, word)
	}
	return set, true
}

// maxStub is larger than any text that replaces content.
const maxStub = 1 << 10

// Shown reports whether a result is the tool's own output, not a text that replaces it.
func (c Invocation) Shown() bool {
	if c.Result == nil || len(c.Result.Blocks) != 1 || c.Result.Blocks[0].Content.Size() > maxStub {
		return c.Result != nil
	}
	text, ok := c.text()
	if !ok {
		return true // not text
	}
	for _, stub := range []string{"[compacted] ", "[superseded] "} {
		rest, found := strings.CutPrefix(text, stub+c.Tool)
		if found && (rest == "" || rest[0] == ':' || rest[0] == '\n') {
			return false
		}
	}
	return true
}

// cutOff matches the end of a text that was truncated for the model.
var cutOff = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[cut: [0-9]+ of [0-9]+ bytes are not shown;[^\n]*\]$`)
})

// text returns the result if it is only text, available and complete.
func (c Invocation) text() (string, bool) {
	var b strings.Builder
	for i := range c.Result.Blocks {
		block := &c.Result.Blocks[i]
		if block.Type != events.BlockText || block.Content.IsRef() && c.Contents == nil {
			return "", false
		}
		data, err := block.Content.Bytes(c.Contents)
		if err != nil {
			return "", false
		}
		b.Write(data)
	}
	return b.String(), !cutOff().MatchString(strings.TrimRight(b.String(), "\n"))
}

// rows returns the number of lines of a text.
func rows(text string) int { return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1 }
