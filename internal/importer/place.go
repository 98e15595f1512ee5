package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// belongs reports whether a session ran in the workspace at root, and not in another one below it,
// such as that of a submodule or of a linked working tree.
func belongs(s sessions.Session, root string) bool {
	top := regular.PrefixOf(s.Dir, root)
	if top == "" {
		return false
	}
	for at := filepath.Clean(s.Dir); len(at) > len(top); at = filepath.Dir(at) {
		if workspace.Is(at) {
			return false
		}
	}
	return true
}

// root returns the directory that is $WORKSPACE for the session: the workspace's own if the session
// ran in it, else the one from its first import, else the workspace or the repository in which it
// ran, else its own directory, which is not known to be a root.
func (j *job) root() (dir string, known bool) {
	s := j.session
	if own := regular.PrefixOf(s.Dir, j.Workspace.Root()); own != "" {
		return own, true
	}
	if s.Export != nil {
		return strings.TrimRight(s.Dir, `/\`), true // it was exported from the root
	}
	if _, d, err := j.find(s.Name); err == nil && !j.Fresh {
		return above(s, d.Labels[sessions.LabelDir])
	}
	if !filepath.IsAbs(s.Dir) {
		return s.Dir, false
	}
	for at := filepath.Clean(s.Dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		for _, name := range []string{workspace.DirName, ".git"} {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				return at, true
			}
		}
	}
	return strings.TrimRight(s.Dir, `/\`), false
}

// above returns the root of a session that was started in the subdirectory below; below is "" if
// that is not known.
func above(s sessions.Session, below string) (root string, known bool) {
	dir := strings.TrimRight(s.Dir, `/\`)
	if below == "" || below == "." {
		return dir, below == "."
	}
	root, known = strings.CutSuffix(strings.ReplaceAll(dir, `\`, "/"), "/"+below)
	return dir[:len(root)], known
}

// below returns the directory of a session relative to its root.
func below(s sessions.Session, root string) string {
	dir := s.Dir
	if !strings.HasPrefix(dir, root) {
		dir = filepath.Clean(dir) // as root is
	}
	dir = strings.ReplaceAll(strings.TrimPrefix(dir, root), `\`, "/")
	if dir = strings.Trim(dir, "/"); dir == "" {
		return "."
	}
	return dir
}

// A tombstone is the content of such a file.
type tombstone struct {
	Session string `json:"session"`
}

// isRemoved reports whether the conversation of a session was removed, and is not imported again.
func (im *Importer) isRemoved(n sessions.Name) bool {
	return !im.Again && removed(im.Workspace, n)
}

// removed reports whether the conversation of a session was removed.
func removed(w *workspace.Workspace, n sessions.Name) bool {
	fsys := regular.Dir(w.Dir())
	for _, id := range n.IDs() {
		data, err := regular.ReadUnlinked(fsys, workspace.RemovedPath(id), maxTombstone)
		var t tombstone
		if err == nil && json.Unmarshal(data, &t) == nil && t.Session == n.String() {
			return true
		}
		// A file that a sparse checkout leaves out cannot be read: its name, which has the id, is
		// enough.
		if errors.Is(w.FileLeftOut(workspace.RemovedPath(id)), fs.ErrExist) {
			return true
		}
	}
	return false
}

const maxTombstone = 1 << 20

// Bury records that the conversation of a session was removed, and returns the name of the file
// below .jp. It does nothing for a conversation that was not imported.
func Bury(w *workspace.Workspace, id events.ID, d *events.Details) (string, error) {
	n, ok := sessions.ParseName(d.Labels[sessions.LabelSession])
	if !ok || !id.IsDerived() {
		return "", nil
	}
	data, err := json.Marshal(tombstone{n.String()})
	if err != nil {
		return "", err
	}
	name := workspace.RemovedPath(id)
	if err := w.WriteFile(name, append(data, '\n')); err != nil {
		return "", fmt.Errorf("note the removal of %s: %w", n, err)
	}
	return name, nil
}
