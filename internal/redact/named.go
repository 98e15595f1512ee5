package redact

import (
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// named reports whether the title, the directory or a label has the target.
func (t Target) named(id events.ID, d *events.Details, dirname string) bool {
	return t.inDirname(id, dirname) || d.Clone().MapTexts(t.without) > 0
}

// inDirname reports whether a directory was named by a title with the target.
func (t Target) inDirname(id events.ID, dirname string) bool {
	if len(t.Value) == 0 {
		return false
	}
	_, slug, ok := strings.Cut(events.Dirname(id, string(t.Value)), "-")
	return ok && strings.Contains(dirname, slug)
}

// without returns a text without the target.
func (t Target) without(s string) string {
	if len(t.Value) == 0 {
		return s
	}
	return strings.ReplaceAll(s, string(t.Value), secrets.Marker(t.Rule))
}

// rename takes the target out of the title, the directory that the title named, and the labels. It
// returns out of how many of these.
func (t Target) rename(c *workspace.Conversation) int {
	n := c.Details.MapTexts(t.without)
	if t.inDirname(c.ID, c.Dirname) {
		n = max(1, n)
	}
	c.Renamed = c.Renamed || n > 0
	return n
}
