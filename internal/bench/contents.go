package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
)

// contents are the contents of files over time, as far as a conversation shows them: by complete
// reads, writes and edits.
type contents struct {
	at      map[string][]version
	edits   []edit // that succeeded
	unknown int    // changes after which the content of a file is unknown
}

type version struct {
	element int
	text    string
	known   bool
}

// An edit replaced some text of a file.
type edit struct {
	element int
	quoted  string
}

// fileArgs are the arguments of tools that write.
type fileArgs struct {
	Content  string        `json:"content"`
	Edits    []replacement `json:"edits"`
	Patterns []pattern     `json:"patterns"` // of jp's tool
	Regex    bool          `json:"replace_using_regex"`
	Patch    string        `json:"input"` // of Codex
	replacement
}

// A pattern is a replacement in the form of jp's tool.
type pattern struct {
	Old   string   `json:"old"`
	New   string   `json:"new"`
	Paths []string `json:"paths"`
}

// replacements returns the replacements in one file, in order.
func (a fileArgs) replacements(key string) (all []replacement) {
	for _, e := range append(a.Edits, a.replacement) {
		if e.Old != "" {
			all = append(all, e)
		}
	}
	for _, p := range a.Patterns {
		named := func(path string) bool { return strings.HasSuffix(key, "/"+path) }
		if p.Old != "" && !a.Regex && (len(p.Paths) == 0 || slices.ContainsFunc(p.Paths, named)) {
			all = append(all, replacement{Old: p.Old, New: p.New})
		}
	}
	return append(all, hunks(a.Patch, key)...)
}

type replacement struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

func contentsOf(s *events.Stream) *contents {
	c := &contents{at: map[string][]version{}}
	for _, call := range s.Calls() {
		request, ok := s.At(call.Request).Event().(*events.ToolCallRequest)
		if !ok || call.Open() {
			continue
		}
		result, ok := s.At(call.Response).Event().(*events.ToolCallResponse)
		if !ok || result.IsError {
			continue
		}
		in := dedup.Invocation{Tool: call.Name, Arguments: request.Arguments, Result: result}
		c.call(call.Response, in)
	}
	return c
}

func (c *contents) call(at int, in dedup.Invocation) {
	for i := range in.Result.Blocks {
		r := in.Result.Blocks[i].Resource
		if r == nil || strings.Contains(r.URI, "#") {
			continue
		}
		if data, err := r.Content.Bytes(nil); err == nil {
			c.set(r.URI, version{at, unnumbered(string(data)), true})
		}
	}
	if dedup.TradeOf(in.Tool) != dedup.Writer {
		return
	}
	var args fileArgs
	if json.Unmarshal(in.Arguments, &args) != nil {
		return
	}
	for _, key := range dedup.Rules()["io-content"].Changes(in) {
		was := version{}
		if all := c.at[key]; len(all) > 0 {
			was = all[len(all)-1]
		}
		edits := args.replacements(key)
		now, known := args.apply(edits, was)
		for _, e := range edits {
			c.edits = append(c.edits, edit{at, e.Old})
		}
		if !known {
			c.unknown++
		}
		c.set(key, version{at, now, known})
	}
}

func (c *contents) set(key string, v version) { c.at[key] = append(c.at[key], v) }

// apply returns the new content of a file; false if it is not known.
func (a fileArgs) apply(edits []replacement, was version) (string, bool) {
	if a.Content != "" {
		return a.Content, true
	}
	text, known := was.text, was.known && !a.Regex
	for _, e := range edits {
		n := 1
		if e.All {
			n = -1
		}
		known = known && strings.Contains(text, e.Old)
		text = strings.Replace(text, e.Old, e.New, n)
	}
	return text, known
}

// current returns the content of a file before an element.
func (c *contents) current(key string, upto int) (text string, ok bool) {
	for _, v := range c.at[key] {
		if v.element < upto {
			text, ok = v.text, v.known
		}
	}
	return text, ok
}

// tokens is [compact.History.Current].
func (c *contents) tokens(key string, upto int) (float64, bool) {
	text, ok := c.current(key, upto)
	return compact.SortAttachment.Tokens(int64(len(text))), ok
}

var numberedLine = regexp.MustCompile(`(?m)^ *[0-9]+→`)

// unnumbered removes the numbers from the lines of a read.
func unnumbered(text string) string { return numberedLine.ReplaceAllString(text, "") }

// hunks returns the replacements that a patch makes in one file.
func hunks(patch, key string) (all []replacement) {
	for _, section := range strings.Split(patch, "*** Update File: ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		if !strings.HasSuffix(key, name) {
			continue
		}
		rest, _, _ = strings.Cut(rest, "\n*** ")
		for _, hunk := range strings.Split("\n"+rest, "\n@@")[1:] {
			_, hunk, _ = strings.Cut(hunk, "\n")
			var r replacement
			for line := range strings.Lines(hunk) {
				if text, added := strings.CutPrefix(line, "+"); added {
					r.New += text
				} else if text, removed := strings.CutPrefix(line, "-"); removed {
					r.Old += text
				} else {
					r.Old, r.New = r.Old+line[1:], r.New+line[1:]
				}
			}
			r.Old, r.New = strings.TrimSuffix(r.Old, "\n"), strings.TrimSuffix(r.New, "\n")
			if r.Old != "" {
				all = append(all, r)
			}
		}
	}
	return all
}
