package view

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/edits"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions"
)

// A call is a call of a tool with its result.
type call struct {
	key, resultKey string
	name           string
	id             string // that pairs it with its result
	args           edits.Arguments
	raw            []byte // the arguments verbatim
	result         *events.ToolCallResponse
	parts          []render.Part
	started        string // the session that the call started, "" for none
}

func newCall(key string, ev *events.ToolCallRequest, md events.Metadata) *call {
	c := &call{
		key: key, name: ev.Name, id: ev.ID, raw: ev.Arguments, args: edits.Parse(ev.Arguments),
	}
	c.started, _ = md.Text(sessions.MetadataSubagent)
	return c
}

// failed reports whether a call ended with an error.
func (c *call) failed() bool { return c.result != nil && c.result.IsError }

// telling returns the argument that says what a call is about.
func (c *call) telling() string {
	about := c.args.Text("pattern", "query", "queries", "regex", "search", "testname")
	file := c.args.File()
	switch {
	case c.args.Command() != "":
		return c.args.Command()
	case about != "" && file != "":
		return about + " in " + file
	case file != "":
		return file
	}
	if files := patched(c.args.Edits()); files != "" {
		return files
	}
	about = cmp.Or(about, c.args.Text("url", "description", "subject", "title", "message", "prompt",
		"name", "number", "revision", "package", "skill", "id"))
	if about == "" && len(c.args) > 0 {
		about = string(c.raw)
	}
	return about
}

// outcome says how a call ended, in a few characters.
func (c *call) outcome() string {
	if c.result == nil {
		return "no result"
	}
	said := c.said()
	var all []string
	if c.failed() {
		all = append(all, "failed")
	}
	if code, ok := exitCode(said); ok && (code != 0 || c.args.Command() != "") {
		all = append(all, "exit "+strconv.Itoa(code))
	}
	if added, removed := countEdits(c.args.Edits()); added+removed > 0 {
		all = append(all, fmt.Sprintf("+%d −%d", added, removed))
	} else if c.searches() && !c.failed() {
		all = append(all, render.Count(linesIn(said), "line"))
	} else if size := c.size(); size > 0 {
		all = append(all, render.Bytes(size))
	}
	return strings.Join(all, " · ")
}

func (c *call) searches() bool {
	n := strings.ToLower(c.name)
	return strings.Contains(n, "grep") || strings.Contains(n, "search") ||
		strings.Contains(n, "glob") || strings.Contains(n, "find")
}

// said returns the text of the result.
func (c *call) said() string {
	var all []string
	for _, p := range c.parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

func (c *call) size() (n int64) {
	for _, p := range c.parts {
		n += p.Size
	}
	return n
}

func linesIn(s string) int {
	if s = strings.Trim(s, "\n"); s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}

// exitCode finds the exit code in a result, in the wording of the agents: in its first or last
// lines.
func exitCode(said string) (int, bool) {
	const near = 200
	ends := said
	if len(said) > 2*near {
		ends = said[:near] + "\n" + said[len(said)-near:]
	}
	ends = strings.ToLower(ends)
	for _, words := range []string{
		"exit code: ", "exit code ", "exited with code ", `"exit_code":`, "exit_code: ",
		"<exit_code>", "exit status: ", "exit status ",
	} {
		_, rest, ok := strings.Cut(ends, words)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, " ")
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "-0123456789"))]
		if code, err := strconv.Atoi(digits); err == nil {
			return code, true
		}
	}
	return 0, false
}

// patched names the files that patches change.
func patched(all []edits.Edit) string {
	var files []string
	for _, e := range all {
		for line := range strings.Lines(e.Patch) {
			if name := patchedFile(strings.TrimSpace(line)); name != "" {
				files = append(files, name)
			}
		}
	}
	return strings.Join(files, ", ")
}

// patchedFile returns the file that a line of a patch begins, "" for another line.
func patchedFile(line string) string {
	for _, head := range []string{
		"*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/",
	} {
		if name, ok := strings.CutPrefix(line, head); ok {
			return name
		}
	}
	return ""
}

// countEdits counts the lines that edits add and remove.
func countEdits(all []edits.Edit) (added, removed int) {
	for _, e := range all {
		for line := range strings.Lines(e.Diff()) {
			switch patchKind(line) {
			case "ins":
				added++
			case "del":
				removed++
			}
		}
	}
	return added, removed
}

// written returns the text that a call writes as a complete file, and the name of the argument that
// has it, "" for none.
func (c *call) written() (name, text string) {
	if c.args.File() == "" {
		return "", ""
	}
	for _, n := range []string{"content", "file_text", "contents", "text"} {
		if s, is := c.args[n].(string); is {
			return n, s
		}
	}
	return "", ""
}

// language returns the language of the code in a file, by the extension of its name.
func language(file string) string {
	file, _, _ = strings.Cut(file, "#")
	return strings.TrimPrefix(path.Ext(file), ".")
}

// A todo is an entry of a to-do list. Beside is what else it says, as JSON.
type todo struct{ text, mark, state, beside string }

// todos returns the list that a call sets, and the name of the argument that has it: a list of
// entries, and of nothing else.
func (c *call) todos() (name string, all []todo) {
	for _, name := range []string{"todos", "plan"} {
		items, _ := c.args[name].([]any)
		all := make([]todo, len(items))
		for i, item := range items {
			entry, _ := item.(map[string]any)
			all[i] = newTodo(entry)
		}
		if len(all) > 0 && !slices.ContainsFunc(all, func(t todo) bool { return t.text == "" }) {
			return name, all
		}
	}
	return "", nil
}

func newTodo(entry edits.Arguments) (t todo) {
	first := func(names ...string) (name, text string) {
		for _, n := range names {
			if s, _ := entry[n].(string); s != "" {
				return n, s
			}
		}
		return "", ""
	}
	named, text := first("content", "step", "text")
	told, state := first("status", "state")
	t = todo{text: text, mark: "☐", state: "open"}
	switch state {
	case "completed", "done":
		t.mark, t.state = "☑", "done"
	case "in_progress":
		t.mark, t.state = "◐", "in progress"
	case "pending", "open":
	default:
		told = "" // shown as it is written
	}
	t.beside = string(entry.Without(named, told))
	return t
}
