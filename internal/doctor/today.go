package doctor

import (
	"errors"
	"path/filepath"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

const toInline = "git jp migrate --to inline"

// today reports what today's jp, if it is installed, would do with the workspace. It cannot read
// references in results, and it reads attachments, which its next save drops. It uses the
// conversations in user-local storage too.
func (d *examination) today() error {
	w, err := d.Workspace()
	if errors.Is(err, workspace.ErrNoWorkspace) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, _, err := w.List(workspace.ListOptions{Archived: true, Local: true})
	if err != nil {
		return err
	}
	installed := d.onPath("jp")
	var refused, dropping events.ID
	for _, e := range entries {
		if !installed && !e.Local {
			continue
		}
		file := filepath.Join(w.Path(e), workspace.EventsFile)
		data, err := regular.ReadFile(file, w.Limits().OfStream())
		if err != nil {
			continue
		}
		if e.Local {
			d.lacking(e.ID, data)
		}
		result, attached := referring(data)
		if result && refused == 0 {
			refused = e.ID
		}
		if attached && !result && dropping == 0 {
			dropping = e.ID
		}
	}
	if installed && refused != 0 {
		d.add("jp", "the jp on this machine cannot read "+refused.String()+
			", whose content is in the store", toInline)
	}
	if installed && dropping != 0 {
		d.add("jp", "the next save by the jp on this machine would remove the attachments of "+
			dropping.String()+", whose content is in the store", toInline)
	}
	return nil
}

// referring reports whether results and whether requests of a stream refer to content.
func referring(data []byte) (result, attached bool) {
	found, err := events.References(data)
	if err != nil {
		return false, false
	}
	for _, at := range found {
		if at.Loose {
			continue
		}
		result = result || at.Call != ""
		attached = attached || at.Part == events.PartAttachment
	}
	return result, attached
}

// lacking reports a user-local conversation that jp has saved without its attachments. No check
// reads those, and no other version of one is in Git.
func (d *examination) lacking(id events.ID, data []byte) {
	s, err := events.Decode(data)
	if err != nil {
		return
	}
	n := 0
	for _, e := range s.All() {
		if e.Dropped() {
			n++
		}
	}
	if n > 0 {
		d.add("attachments", "user-local "+id.String()+" lacks the attachments of "+
			render.Count(n, "request")+", as after jp saved it", "git jp print "+id.String())
	}
}
