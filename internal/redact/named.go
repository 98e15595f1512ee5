package redact

import (
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// named reports whether the title, the name of the directory or a label contains the target.
func (t Target) named(id events.ID, d *events.Details, dirname string) bool {
	return t.inDirname(id, dirname) || d.Clone().MapTexts(t.without) > 0
}

// inDirname reports whether the name of a directory was made from a title with the target.
func (t Target) inDirname(id events.ID, dirname string) bool {
	if len(t.Value) == 0 {
		return false
	}
	_, slug, ok := strings.Cut(events.Dirname(id, string(t.Value)), "-")
	return ok && strings.Contains(dirname, slug)
}

// without returns a text with the target replaced.
func (t Target) without(_, s string) string {
	if len(t.Value) == 0 {
		return s
	}
	return strings.ReplaceAll(s, string(t.Value), secrets.Marker(t.Rule))
}

// rename redacts the target in the title, in the directory name made from it, and in the labels. It
// returns how many of these it changes, and the change, nil if there is none.
func (t Target) rename(c *workspace.Conversation) (n int, change *quarantine.Named) {
	was := quarantine.Naming{Metadata: c.Details.Encode(), Dirname: c.Dirname}
	n = c.Details.MapTexts(t.without)
	if t.inDirname(c.ID, c.Dirname) {
		n = max(1, n)
	}
	if n == 0 {
		return 0, nil
	}
	c.Rename = c.Dirname
	if !c.ID.IsDerived() {
		c.Rename = events.Dirname(c.ID, c.Title())
	}
	return n, &quarantine.Named{
		Was: was, Is: quarantine.Naming{Metadata: c.Details.Encode(), Dirname: c.Rename},
	}
}
