package redact

import (
	"context"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Tracked is a workspace that git tracks. Secrets are removed from the index too.
type Tracked struct {
	Redactor

	Repo *gitint.Repo
	Dir  string // .jp, from the root of the repository
}

// Stage adds the entries to the index and removes deleted blobs from it. It returns the
// conversations that are in the index, which have to be staged again.
func (t Tracked) Stage(ctx context.Context, res *Result) (ids []events.ID, err error) {
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	var change gitint.Change
	for _, name := range res.Entries {
		change.Add = append(change.Add, path.Join(t.Dir, name))
	}
	for _, h := range res.Removed {
		if name := workspace.BlobPath(t.Dir, h); hasFile(index, name) {
			change.Remove = append(change.Remove, name)
		}
	}
	if err := t.change(ctx, change); err != nil {
		return nil, err
	}
	indexed, err := t.indexedDirs(index)
	for _, id := range res.Conversations {
		if len(indexed[id]) > 0 {
			ids = append(ids, id)
		}
	}
	return ids, err
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

// Commits returns the commits that changed the files that had the redacted values, oldest first.
func (t Tracked) Commits(ctx context.Context, res *Result) (ids []string, err error) {
	refs, err := t.Repo.Refs(ctx)
	if err != nil {
		return nil, err
	}
	var all gitint.PushRange
	for _, ref := range refs {
		if !ref.Peeled.IsZero() {
			all.Tips = append(all.Tips, ref.Peeled.String())
		}
	}
	for _, h := range res.Removed {
		all.Under = append(all.Under, workspace.BlobPath(t.Dir, h))
	}
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	indexed, err := t.indexedDirs(index)
	if err != nil {
		return nil, err
	}
	o := workspace.FindOptions{ListOptions: workspace.ListOptions{Archived: true, Local: true}}
	for _, id := range res.Conversations {
		all.Under = append(all.Under, indexed[id]...)
		if e, err := t.Workspace.Find(id.String(), o); err == nil {
			all.Under = append(all.Under, path.Join(path.Dir(t.Dir), e.Path))
		}
	}
	commits, err := t.Repo.PushedCommits(ctx, all)
	for _, commit := range commits {
		ids = append(ids, commit.OID.String())
	}
	return ids, err
}

// Undo restores a conversation, and removes the entries that are deleted with that from the index.
func (t Tracked) Undo(ctx context.Context, id events.ID) (names []string, err error) {
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	if names, err = t.Redactor.Undo(ctx, id); err != nil {
		return nil, err
	}
	var change gitint.Change
	for _, entry := range names {
		if file := path.Join(t.Dir, entry); hasFile(index, file) {
			change.Remove = append(change.Remove, file)
		}
	}
	return names, t.change(ctx, change)
}

// StillThere looks for the target in the working tree, and in files of the index that differ from
// it.
func (t Tracked) StillThere(ctx context.Context, target Target) (*Left, error) {
	if target.Rule == "" {
		return &Left{}, nil
	}
	tree, err := check.OpenWorkTree(t.Repo.Root(), t.Repo.Limits())
	if err != nil {
		return nil, err
	}
	defer tree.Close() //nolint:errcheck // it was only read
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	return t.Left(ctx, target, t.Dir, tree, check.Git(t.Repo, index))
}
