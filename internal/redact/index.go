package redact

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Tracked is a workspace that git tracks. Secrets are removed from the index too.
type Tracked struct {
	Redactor

	Repo *gitint.Repo
	Dir  string // .jp, from the root of the repository
}

// Behind returns the conversations that are redacted in the working tree and not yet in the index:
// by this redaction, or by one that was stopped before it staged them.
func (t Tracked) Behind(ctx context.Context, target Target) (ids []events.ID, err error) {
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	indexed, err := t.indexedDirs(index)
	if err != nil {
		return nil, err
	}
	entries, err := t.committed()
	if err != nil {
		return nil, err
	}
	all, _, err := t.Workspace.List(workspace.ListOptions{Archived: true})
	if err != nil {
		return nil, err
	}
	unmerged := t.unmerged(index)
	for _, e := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !unmerged[e.ID] && slices.ContainsFunc(indexed[e.ID], func(dir string) bool {
			return t.isBehind(index, dir, e, entries, target)
		}) {
			ids = append(ids, e.ID)
		}
	}
	return ids, nil
}

// isBehind compares a conversation's directory in the index with the one in the working tree. It
// ignores files that cannot be read: a check reports them.
func (t Tracked) isBehind(
	index *gitint.Index, dir string, e workspace.Entry, entries secrets.Redactions, target Target,
) bool {
	// differing returns the file in the index if the working tree has a different one.
	differing := func(name string) []byte {
		was, err := index.ReadFile(path.Join(dir, name))
		is, isErr := t.Workspace.ReadFile(e, name)
		if err != nil || isErr == nil && bytes.Equal(was, is) {
			return nil
		}
		return was
	}
	if s, err := events.Decode(differing(workspace.EventsFile)); err == nil {
		contents := blobs.Readers{indexed{index, t.Dir}, t.contents(e)}
		done, err := entries.Apply(e.ID, s, contents)
		if err == nil && len(done.Replaced) > 0 {
			return true
		}
	}
	d, err := events.DecodeDetails(differing(workspace.MetadataFile))
	if err != nil {
		d = &events.Details{}
	}
	here := path.Base(dir) == path.Base(e.Path)
	return target.named(e.ID, d, "") || !here && target.inDirname(e.ID, path.Base(dir))
}

// indexed reads the blobs that the index has for the workspace directory dir.
type indexed struct {
	index *gitint.Index
	dir   string
}

// Read implements [blobs.Reader].
func (x indexed) Read(ref blobs.Ref) ([]byte, error) {
	gz, err := x.index.ReadFile(workspace.BlobPath(x.dir, ref.Hash))
	if err != nil {
		return nil, err
	}
	return blobs.Decode(gz, ref)
}

// elsewhere returns the readers of content that the store does not have: the quarantined originals
// of a conversation, and what else has it.
func (r Redactor) elsewhere(id events.ID) (all blobs.Readers) {
	for _, kept := range r.Quarantine.CopiesOf(quarantine.Redacted, id) {
		all = append(all, kept)
	}
	if r.Elsewhere != nil {
		all = append(all, r.Elsewhere)
	}
	return all
}

func (t Tracked) change(ctx context.Context, c gitint.Change) error {
	if len(c.Add)+len(c.Remove) == 0 {
		return nil
	}
	_, err := t.Repo.Stage(ctx, c)
	return err
}

// indexedDirs returns the directories of conversations in the index. The working tree has another
// one if the directory's name was redacted.
func (t Tracked) indexedDirs(index *gitint.Index) (map[events.ID][]string, error) {
	entries, err := index.Entries(path.Join(t.Dir, workspace.Live.Dir()))
	dirs := make(map[events.ID][]string)
	for _, e := range entries {
		id, ok := workspace.PathID(e.Path)
		if at := path.Dir(e.Path); ok && !slices.Contains(dirs[id], at) {
			dirs[id] = append(dirs[id], at)
		}
	}
	return dirs, err
}

func hasFile(index *gitint.Index, name string) bool {
	_, ok := index.OID(name)
	return ok
}

// inIndex returns the conversations that the index has, and the removed blobs that the index has or
// the store had.
func (t Tracked) inIndex(
	ctx context.Context, ids []events.ID, res *Result,
) (tracked []events.ID, contents []blobs.Hash, err error) {
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return nil, nil, err
	}
	indexed, err := t.indexedDirs(index)
	tracked = lists.Filter(ids, func(id events.ID) bool { return len(indexed[id]) > 0 })
	contents = lists.Filter(res.Gone, func(h blobs.Hash) bool {
		return slices.Contains(res.Removed, h) || hasFile(index, workspace.BlobPath(t.Dir, h))
	})
	return tracked, contents, err
}

// A Reach names the parts of history that may contain the redacted text.
type Reach struct {
	// Contents are the paths of removed blobs, Dirs the directories of the conversations.
	Contents, Dirs []string
	// Commits are the commits that changed them, oldest first.
	Commits []string
	// LFS says that Git LFS has contents too, of which commits have pointers.
	LFS bool
}

// History returns the commits that changed the files of conversations and of blobs. It must be
// called before the redacted conversations are staged, because their directories may have other
// names.
func (t Tracked) History(
	ctx context.Context, ids []events.ID, contents []blobs.Hash,
) (reach Reach, err error) {
	refs, err := t.Repo.Refs(ctx)
	if err != nil {
		return reach, err
	}
	var all gitint.PushRange
	for _, ref := range refs {
		if !ref.Peeled.IsZero() {
			all.Tips = append(all.Tips, ref.Peeled.String())
		}
	}
	for _, h := range contents {
		reach.Contents = append(reach.Contents, workspace.BlobPath(t.Dir, h))
	}
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return reach, err
	}
	indexed, err := t.indexedDirs(index)
	if err != nil {
		return reach, err
	}
	o := workspace.FindOptions{ListOptions: workspace.ListOptions{Archived: true, Local: true}}
	for _, id := range ids {
		reach.Dirs = append(reach.Dirs, indexed[id]...)
		if e, err := t.Workspace.Find(id.String(), o); err == nil {
			reach.Dirs = append(reach.Dirs, path.Join(path.Dir(t.Dir), e.Path))
		}
	}
	slices.Sort(reach.Dirs)
	reach.Dirs = slices.Compact(reach.Dirs)
	if all.Under = slices.Concat(reach.Contents, reach.Dirs); len(all.Under) == 0 {
		return reach, nil
	}
	commits, err := t.Repo.PushedCommits(ctx, all)
	if err != nil {
		return reach, err
	}
	for _, commit := range commits {
		reach.Commits = append(reach.Commits, commit.OID.String())
	}
	filters, err := t.Repo.CheckAttr(ctx, []string{"filter"}, reach.Contents)
	for _, values := range filters {
		reach.LFS = reach.LFS || values["filter"] == "lfs"
	}
	return reach, err
}

// Undo restores a conversation, and removes the entries that are deleted with that from the index.
func (t Tracked) Undo(ctx context.Context, id events.ID) (u Undone, err error) {
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return u, err
	}
	if t.unmerged(index)[id] {
		return u, fmt.Errorf("undo redaction: %w", &UnmergedError{id})
	}
	if u, err = t.Redactor.Undo(ctx, id); err != nil {
		return u, err
	}
	var change gitint.Change
	for _, entry := range u.Entries {
		if file := path.Join(t.Dir, entry); hasFile(index, file) {
			change.Remove = append(change.Remove, file)
		}
	}
	return u, t.change(ctx, change)
}
