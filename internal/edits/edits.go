package edits

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Arguments are the arguments of a call.
type Arguments map[string]any

// Parse parses arguments; anything but an object has none.
func Parse(args []byte) (a Arguments) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	_ = d.Decode(&a) // anything but an object is shown unchanged
	return a
}

// Text returns a text argument, by the first of the names that it has.
func (a Arguments) Text(names ...string) string {
	_, text := a.first(names...)
	return text
}

// first returns the first of the names that has a text, and the text.
func (a Arguments) first(names ...string) (name, text string) {
	for _, n := range names {
		if text = textOf(a[n]); text != "" {
			return n, text
		}
	}
	return "", ""
}

// Without returns the arguments but those of the names, as JSON, and nil if there are none: what a
// view that shows these in a form of its own has to show beside it.
func (a Arguments) Without(names ...string) []byte {
	rest := a.without(names...)
	if len(rest) == 0 {
		return nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(rest) // what was parsed can be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (a Arguments) without(names ...string) Arguments {
	rest := maps.Clone(a)
	for _, n := range names {
		if n != "" { // for no argument
			delete(rest, n)
		}
	}
	return rest
}

// textOf returns a text, a number or a list of these as text, "" for anything else: no part of a
// list may be hidden.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case []any:
		all := make([]string, len(v))
		for i, e := range v {
			if _, list := e.([]any); list || textOf(e) == "" && e != "" {
				return ""
			}
			all[i] = textOf(e)
		}
		return strings.Join(all, " ")
	}
	return ""
}

// Command returns the command line of a call that runs one. For a shell that is given a script, it
// is the script.
func (a Arguments) Command() string {
	_, line := a.commandNamed()
	return line
}

// commandNamed returns the name of the argument that has the command line too.
func (a Arguments) commandNamed() (name, line string) {
	if name, list := a.shell(); name != "" {
		return name, textOf(list[2])
	}
	return a.first("command", "cmd", "script", "command_line", "CommandLine")
}

// shell returns the argument that gives a script to a shell, as a list of the shell, its option and
// the script, and the name of the argument.
func (a Arguments) shell() (name string, list []any) {
	for _, n := range []string{"command", "cmd", "script"} {
		list, _ := a[n].([]any)
		if len(list) != 3 {
			continue
		}
		shell := strings.HasSuffix(textOf(list[0]), "sh")
		if shell && (list[1] == "-c" || list[1] == "-lc") && textOf(list[2]) != "" {
			return n, list
		}
	}
	return "", nil
}

// BesideCommand returns the arguments beside the command line, as [Arguments.Without] does: also
// the shell that is given a script.
func (a Arguments) BesideCommand() []byte {
	rest := a
	if name, _ := a.commandNamed(); name != "" {
		rest = a.without(name)
	}
	if name, list := a.shell(); name != "" {
		rest[name] = list[:2]
	}
	return rest.Without()
}

// File returns the path of the file that a call concerns.
func (a Arguments) File() string {
	_, file := a.FileNamed()
	return file
}

// FileNamed returns the name of the argument that has the path too.
func (a Arguments) FileNamed() (name, file string) {
	return a.first("path", "file_path", "filePath", "filename", "file", "notebook_path",
		"absolute_path", "target_file", "paths", "files", "dir_path", "directory", "uri")
}

// An Edit is a change to a file by a call.
type Edit struct {
	File     string // "" if the patch names it
	Old, New string
	Patch    string // instead of both
}

// Edits returns the changes that a call makes, in the forms of the known agents.
func (a Arguments) Edits() []Edit {
	all, _ := a.EditsBeside()
	return all
}

// EditsBeside returns the other arguments too, as [Arguments.Without] does. They may say as much: a
// reason, or that every place is to be replaced.
func (a Arguments) EditsBeside() (all []Edit, beside []byte) {
	named, file := a.FileNamed()
	for _, list := range []string{"patterns", "edits"} {
		if all, left := a.listed(list, file); len(all) > 0 {
			if all[0].File != file {
				named = ""
			}
			rest := a.without(list, named)
			if left != nil {
				rest[list] = left
			}
			return all, rest.Without()
		}
	}
	if was, is, names, ok := replaced(a); ok {
		return []Edit{{File: file, Old: was, New: is}}, a.Without(named, names[0], names[1])
	}
	name, patch := a.first("patch", "input", "diff", "patchText")
	if name == "" && isPatch(a.Command()) {
		return []Edit{{Patch: a.Command()}}, a.BesideCommand()
	}
	if isPatch(patch) {
		return []Edit{{Patch: patch}}, a.Without(name)
	}
	return nil, nil
}

func isPatch(text string) bool {
	return strings.Contains(text, "*** Begin Patch") || strings.HasPrefix(text, "--- ") ||
		strings.HasPrefix(text, "diff --git ")
}

// listed returns the changes that an argument lists, if it lists nothing else, and what else it
// says of them, nil if nothing.
func (a Arguments) listed(list, file string) (all []Edit, left []any) {
	items, _ := a[list].([]any)
	for _, item := range items {
		object, _ := item.(map[string]any)
		was, is, names, ok := replaced(object)
		if !ok {
			return nil, nil
		}
		at, paths := file, ""
		if list, _ := object["paths"].([]any); textOf(list) != "" {
			at, paths = textOf(list), "paths"
		}
		all = append(all, Edit{File: at, Old: was, New: is})
		if rest := Arguments(object).without(paths, names[0], names[1]); len(rest) > 0 {
			left = append(left, rest)
		}
	}
	return all, left
}

// replaced returns the old and the new text in an object, and the names of both.
func replaced(object map[string]any) (was, is string, names [2]string, ok bool) {
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
			return was, is, names, true
		}
	}
	return "", "", names, false
}

// Diff returns an edit as a patch without the lines that name its sides.
func (e Edit) Diff() string {
	if e.Patch != "" {
		return strings.TrimSuffix(e.Patch, "\n")
	}
	const around = 3
	ended := func(s string) string {
		if s == "" || strings.HasSuffix(s, "\n") {
			return s
		}
		return s + "\n"
	}
	was, is := ended(e.Old), ended(e.New)
	text, err := udiff.ToUnified("", "", was, udiff.Lines(was, is), around)
	if err != nil {
		return "-" + e.Old + "\n+" + e.New
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") &&
			!strings.HasPrefix(line, "@@") {
			b.WriteString(line)
		} else if strings.HasPrefix(line, "@@") && b.Len() > 0 {
			b.WriteString("@@\n") // the lines of an unknown file have no numbers
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
