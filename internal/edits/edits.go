package edits

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Arguments are the arguments of a call.
type Arguments map[string]any

// Parse parses arguments; anything but an object has none.
func Parse(args []byte) (a Arguments) {
	_ = json.Unmarshal(args, &a) // anything but an object is shown unchanged
	return a
}

// Text returns a text argument, by the first of the names that it has.
func (a Arguments) Text(names ...string) string {
	for _, n := range names {
		switch v := a[n].(type) {
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

// joined returns a list of texts as one text.
func joined(list []any) string {
	var all []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return strings.Join(all, " ")
}

// Command returns the command line of a call that runs one. For a shell that is given a script, it
// is the script.
func (a Arguments) Command() string {
	for _, n := range []string{"command", "cmd", "script"} {
		list, ok := a[n].([]any)
		if !ok || len(list) != 3 {
			continue
		}
		if flag, _ := list[1].(string); flag == "-c" || flag == "-lc" {
			s, _ := list[2].(string)
			return s
		}
	}
	return a.Text("command", "cmd", "script", "command_line", "CommandLine")
}

// File returns the path of the file that a call concerns.
func (a Arguments) File() string {
	return a.Text("path", "file_path", "filePath", "filename", "file", "notebook_path",
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
	file := a.File()
	for _, list := range []string{"patterns", "edits"} {
		if all := a.listed(list, file); len(all) > 0 {
			return all
		}
	}
	if was, is, ok := replaced(a); ok {
		return []Edit{{File: file, Old: was, New: is}}
	}
	patch := a.Text("patch", "input", "diff", "patchText")
	if patch == "" {
		patch = a.Command()
	}
	if at := strings.Index(patch, "*** Begin Patch"); at >= 0 {
		return []Edit{{Patch: patch[at:]}}
	}
	if strings.HasPrefix(patch, "--- ") || strings.HasPrefix(patch, "diff --git ") {
		return []Edit{{Patch: patch}}
	}
	return nil
}

// listed returns the changes that an argument lists.
func (a Arguments) listed(list, file string) (all []Edit) {
	items, _ := a[list].([]any)
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
		all = append(all, Edit{File: at, Old: was, New: is})
	}
	return all
}

// replaced returns the old and the new text in an object.
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
