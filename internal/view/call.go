package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/sessions"
)

// A call is a call of a tool with its result.
type call struct {
	key, resultKey string
	name           string
	id             string // that pairs it with its result
	args           map[string]any
	raw            []byte // the arguments as they are
	result         *events.ToolCallResponse
	parts          []render.Part
	started        string // the session that the call started, "" for none
}

func newCall(key string, ev *events.ToolCallRequest, md events.Metadata) *call {
	c := &call{key: key, name: ev.Name, id: ev.ID, raw: ev.Arguments}
	_ = json.Unmarshal(ev.Arguments, &c.args) // what is no object is shown as it is
	c.started, _ = md.Text(sessions.MetadataSubagent)
	return c
}

// failed reports whether a call ended with an error.
func (c *call) failed() bool { return c.result != nil && c.result.IsError }

// text returns an argument that is a text, by the first of the names that it has.
func (c *call) text(names ...string) string {
	for _, n := range names {
		switch v := c.args[n].(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return strconv.FormatFloat(v, 'g', -1, 64)
		case []any:
			if s := joined(v); s != "" {
				return s
			}
		}
	}
	return ""
}

// joined returns a list of texts as one.
func joined(list []any) string {
	var all []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return strings.Join(all, " ")
}

// command returns the command line of a call that runs one. A shell that is given a script is not
// what tells.
func (c *call) command() string {
	for _, n := range []string{"command", "cmd", "script"} {
		list, ok := c.args[n].([]any)
		if !ok || len(list) != 3 {
			continue
		}
		if flag, _ := list[1].(string); flag == "-c" || flag == "-lc" {
			s, _ := list[2].(string)
			return s
		}
	}
	return c.text("command", "cmd", "script", "command_line", "CommandLine")
}

// file returns the path of the file that a call is about.
func (c *call) file() string {
	return c.text("path", "file_path", "filePath", "filename", "file", "notebook_path",
		"absolute_path", "target_file", "paths", "files", "dir_path", "directory", "uri")
}

// telling is the one thing that says what a call is about.
func (c *call) telling() string {
	about := c.text("pattern", "query", "queries", "regex", "search", "testname")
	file := c.file()
	switch {
	case c.command() != "":
		return c.command()
	case about != "" && file != "":
		return about + " in " + file
	case file != "":
		return file
	}
	if files := patched(c.edits()); files != "" {
		return files
	}
	about = cmp.Or(about, c.text("url", "description", "subject", "title", "message", "prompt",
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
	if code, ok := exitCode(said); ok && (code != 0 || c.command() != "") {
		all = append(all, "exit "+strconv.Itoa(code))
	}
	if added, removed := countEdits(c.edits()); added+removed > 0 {
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

// said is the text of the result.
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

// exitCode finds the exit code that a result names, as the agents word it: in its first lines or
// its last ones.
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

// An edit is a change to a file that a call asks for.
type edit struct {
	file     string
	old, new string
	patch    string // instead of both
}

// edits returns the changes that a call asks for, as the known agents write them.
func (c *call) edits() []edit {
	file := c.file()
	for _, list := range []string{"patterns", "edits"} {
		if all := c.listed(list, file); len(all) > 0 {
			return all
		}
	}
	if was, is, ok := replaced(c.args); ok {
		return []edit{{file: file, old: was, new: is}}
	}
	patch := c.text("patch", "input", "diff", "patchText")
	if patch == "" {
		patch = c.command()
	}
	if at := strings.Index(patch, "*** Begin Patch"); at >= 0 {
		return []edit{{patch: patch[at:]}}
	}
	if strings.HasPrefix(patch, "--- ") || strings.HasPrefix(patch, "diff --git ") {
		return []edit{{patch: patch}}
	}
	return nil
}

// listed returns the changes that an argument lists.
func (c *call) listed(list, file string) (all []edit) {
	items, _ := c.args[list].([]any)
	for _, item := range items {
		object, _ := item.(map[string]any)
		was, is, ok := replaced(object)
		if !ok {
			continue
		}
		at := file
		if paths, _ := object["paths"].([]any); len(paths) > 0 {
			at = joined(paths)
		}
		all = append(all, edit{file: at, old: was, new: is})
	}
	return all
}

// replaced returns what an object says to put in the place of what.
func replaced(object map[string]any) (was, is string, ok bool) {
	for _, names := range [][2]string{
		{"old", "new"},
		{"old_string", "new_string"},
		{"oldString", "newString"},
		{"old_str", "new_str"},
		{"oldText", "newText"},
	} {
		was, hasOld := object[names[0]].(string)
		is, hasNew := object[names[1]].(string)
		if hasOld && (hasNew || object[names[1]] == nil) {
			return was, is, true
		}
	}
	return "", "", false
}

// diff returns an edit as a patch without the lines that name its sides.
func (e edit) diff() string {
	if e.patch != "" {
		return strings.TrimSuffix(e.patch, "\n")
	}
	const around = 3
	ended := func(s string) string {
		if s == "" || strings.HasSuffix(s, "\n") {
			return s
		}
		return s + "\n"
	}
	was, is := ended(e.old), ended(e.new)
	text, err := udiff.ToUnified("", "", was, udiff.Lines(was, is), around)
	if err != nil {
		return "-" + e.old + "\n+" + e.new
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") &&
			!strings.HasPrefix(line, "@@") {
			b.WriteString(line)
		} else if strings.HasPrefix(line, "@@") && b.Len() > 0 {
			b.WriteString("@@\n") // the lines of a file that nobody knows have no numbers
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// patched names the files that patches change.
func patched(all []edit) string {
	var files []string
	for _, e := range all {
		for line := range strings.Lines(e.patch) {
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
func countEdits(all []edit) (added, removed int) {
	for _, e := range all {
		for line := range strings.Lines(e.diff()) {
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

// written returns the text that a call puts into a file as a whole.
func (c *call) written() (text string, ok bool) {
	if c.file() == "" {
		return "", false
	}
	for _, n := range []string{"content", "file_text", "contents", "text"} {
		if s, is := c.args[n].(string); is {
			return s, true
		}
	}
	return "", false
}

// language is that of the code in a file, by the ending of its name.
func language(file string) string {
	file, _, _ = strings.Cut(file, "#")
	return strings.TrimPrefix(path.Ext(file), ".")
}

// A todo is an entry of a list of what is to be done.
type todo struct{ text, state string }

// todos returns the list that a call sets.
func (c *call) todos() (all []todo) {
	for _, n := range []string{"todos", "plan"} {
		items, _ := c.args[n].([]any)
		for _, item := range items {
			object, _ := item.(map[string]any)
			text := func(names ...string) string { return (&call{args: object}).text(names...) }
			if t := text("content", "step", "text"); t != "" {
				all = append(all, todo{t, text("status", "state")})
			}
		}
	}
	return all
}
