package view

import (
	"path"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/edits"
)

// A Change is text that a call of a tool wrote into a file.
type Change struct {
	Index int    // of the call in its stream
	File  string // in the call's spelling
	Lines []string
}

// Changes returns the changes of files by the calls of a stream, except failed ones.
func Changes(s *events.Stream) (all []Change) {
	for _, found := range s.Calls() {
		ev, ok := s.At(found.Request).Event().(*events.ToolCallRequest)
		if !ok {
			continue
		}
		if !found.Open() {
			r, ok := s.At(found.Response).Event().(*events.ToolCallResponse)
			if ok && r.IsError {
				continue
			}
		}
		c := newCall("", ev, events.Metadata{})
		edited := c.args.Edits()
		for _, e := range edited {
			all = append(all, changesOf(e, found.Request)...)
		}
		if name, text := c.written(); name != "" && len(edited) == 0 {
			all = append(all, Change{found.Request, c.args.File(), lines(text)})
		}
	}
	return all
}

// changesOf returns the changes of an edit in each file that it concerns.
func changesOf(e edits.Edit, index int) (all []Change) {
	file := e.File
	var added []string
	add := func() {
		if file != "" && len(added) > 0 {
			all = append(all, Change{index, file, added})
		}
		added = nil
	}
	for _, line := range lines(e.Diff()) {
		if name := patchedFile(line); name != "" {
			add()
			file = name
		} else if patchKind(line) == "ins" {
			added = append(added, line[1:])
		}
	}
	add()
	return all
}

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

// Path returns the file in git's spelling.
func (c Change) Path() string { return path.Clean(strings.ReplaceAll(c.File, `\`, "/")) }

// Names reports whether a call that names a file means that of the repository: agents name files by
// their absolute path, and from the directory in which they run.
func (c Change) Names(file string) bool {
	named := c.Path()
	return named == file || strings.HasSuffix(named, "/"+file) || strings.HasSuffix(file, "/"+named)
}
