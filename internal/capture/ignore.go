package capture

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/sessions"
)

// ignored is the line that keeps the workspace out of an agent's own searches.
const ignored = ".jp/"

// Ignore plans to exclude a workspace from an agent's searches in the working tree at root, if the
// agent reads a file for that: otherwise every word of a conversation is found a second time there.
func Ignore(root string, name sessions.Agent) (Change, error) {
	return ignoring(root, name, func(doc []byte) []byte {
		if slices.ContainsFunc(slices.Collect(strings.Lines(string(doc))), isIgnored) {
			return doc
		}
		if len(doc) > 0 && doc[len(doc)-1] != '\n' {
			return slices.Concat(doc, []byte("\n"+ignored)) // it is removed without a trace
		}
		return slices.Concat(doc, []byte(ignored+"\n"))
	})
}

// Unignore plans to undo that.
func Unignore(root string, name sessions.Agent) (Change, error) {
	return ignoring(root, name, func(doc []byte) []byte {
		switch {
		case bytes.HasSuffix(doc, []byte("\n"+ignored)):
			return doc[:len(doc)-len("\n"+ignored)]
		case string(doc) == ignored+"\n":
			return nil
		}
		var kept []byte
		for line := range bytes.Lines(doc) {
			if !isIgnored(string(line)) {
				kept = append(kept, line...)
			}
		}
		if kept == nil {
			return doc
		}
		return kept
	})
}

func isIgnored(line string) bool { return strings.TrimRight(line, "\r\n") == ignored }

func ignoring(root string, name sessions.Agent, edit func([]byte) []byte) (Change, error) {
	a, ok := agentOf(name)
	if !ok || a.ignores == "" {
		return Change{Agent: name}, nil
	}
	c := Change{Agent: name, Path: filepath.Join(root, a.ignores), perm: 0o644}
	var err error
	if c.Before, err = readSettings(c.Path); err != nil {
		return c, fmt.Errorf("ignore %s: %w", ignored, err)
	}
	c.After = edit(c.Before)
	return c, nil
}
