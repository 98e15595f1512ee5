package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/workspace"
)

// half finds the conversations of which git deleted files because one side had removed them: while
// git waits for the commit, or in a commit that was made without a hook, as in a rebase.
func (m *planner) half(ctx context.Context) error {
	var ids []events.ID
	for _, e := range m.entries {
		if m.lacks(e) && !slices.Contains(ids, e.ID) {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := m.lookForVersions(ctx); err != nil || m.versions.repo == nil {
		return err
	}
	dir := m.versions.own
	kept, err := merge.KeptIn(ctx, m.Repo, dir)
	if err != nil {
		return err
	}
	since, err := merge.KeptSince(ctx, m.Repo, dir, ids...)
	if err != nil {
		return err
	}
	for _, k := range append(kept, since...) {
		m.addKept(k)
	}
	return nil
}

// lacks reports whether a conversation in the working tree lacks one of its three files. An old one
// may always have lacked base_config.json.
func (m *planner) lacks(e workspace.Entry) bool {
	return slices.ContainsFunc(workspace.Files(), func(name string) bool {
		return m.isGone(path.Join(e.Path, name))
	})
}

// isGone reports whether the working tree lacks a file.
func (m *planner) isGone(name string) bool {
	_, err := os.Lstat(filepath.Join(m.Workspace.Root(), filepath.FromSlash(name)))
	return os.IsNotExist(err)
}

func (m *planner) addKept(k merge.Kept) {
	at := strings.TrimPrefix(k.Dir, strings.TrimSuffix(m.versions.own, workspace.DirName))
	var gone []string
	for _, name := range k.Deleted {
		file := path.Join(at, name)
		if m.isGone(file) && !slices.Contains(m.kept, file) {
			gone, m.kept = append(gone, name), append(m.kept, file)
		}
	}
	if len(gone) == 0 {
		return
	}
	remedy := "restore what the side has that kept it"
	if len(k.Redacted) > 0 {
		remedy += ", but not what has redacted text: " + strings.Join(k.Redacted, ", ")
	}
	m.add(&Fault{
		State: check.Malformed, Path: at, Conversation: k.ID, Outcome: Certain, Changes: true,
		Detail: "lacks " + strings.Join(gone, ", ") + ", which git deleted with the rest of it",
		Remedy: remedy,
		mend:   func(ctx context.Context) error { return k.Write(ctx, m.Repo) },
	})
}

// rest repairs a directory that has other files only, while the conversation is complete in
// another: git am leaves one where one side added a file and the other moved the conversation. It
// reports whether the directory is one.
func (m *planner) rest(fault *Fault) bool {
	dir := path.Dir(fault.Path)
	id, ok := events.ParseDirname(path.Base(dir))
	at := slices.IndexFunc(m.entries, func(e workspace.Entry) bool { return e.ID == id })
	if !ok || at < 0 || m.lacks(m.entries[at]) || slices.ContainsFunc(workspace.Files(),
		func(name string) bool { return !m.isGone(path.Join(dir, name)) }) {
		return false
	}
	for _, name := range workspace.Files() {
		m.kept = append(m.kept, path.Join(dir, name)) // one fault for all of them
	}
	rest := workspace.Entry{ID: id, Dirname: path.Base(dir), Path: dir, Partition: workspace.Live}
	if strings.HasSuffix(path.Dir(dir), workspace.Archive.Dir()) {
		rest.Partition = workspace.Archive
	}
	fault.Path, fault.Detail = dir, "has the other files of "+m.entries[at].Path
	fault.Outcome, fault.Changes, fault.Command = Certain, true, ""
	fault.Remedy = "move them there"
	fault.mend = func(ctx context.Context) error {
		return m.Workspace.TakeOver(ctx, rest)
	}
	return true
}

// removed offers the files that a commit removed of a conversation of which only newer ones are
// left, as after a revert of the commit that began it.
func (m *planner) removed(ctx context.Context, fault *Fault) error {
	if err := m.lookForVersions(ctx); err != nil || m.versions.repo == nil {
		return err
	}
	name := path.Join(path.Dir(m.versions.own), fault.Path)
	revs, err := m.Repo.History(ctx, gitint.HistoryRequest{Globs: []string{name}, Count: 1})
	if err != nil || len(revs) == 0 || !m.isGone(fault.Path) {
		return err
	}
	dir, by := path.Dir(name), revs[0].OID.String()[:12]
	files, err := m.Repo.ChangedPaths(ctx, by+"^", by, dir)
	if _, ok := errors.AsType[*gitint.ExitError](err); ok {
		return nil // it is the first commit, which removed nothing
	}
	var names strings.Builder
	for _, f := range files {
		at := path.Join(path.Dir(fault.Path), strings.TrimPrefix(f.Path, dir+"/"))
		if f.New.IsZero() && m.isGone(at) { // git restore overwrites what exists
			names.WriteString(" " + check.Pathspec(f.Path))
		}
	}
	if err != nil || names.Len() == 0 {
		return err
	}
	fault.Remedy = fmt.Sprintf("commit %s removed it; to remove the other files, too, run: %s",
		by, "git rm -r -- "+check.Pathspec(dir))
	fault.Command = "git restore --source=" + by + "^ --" + names.String()
	return nil
}
