package redact

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/workspace"
)

// addStrays adds the blobs with the target to which no stream refers. A merge brings along the
// blobs of the side that was not chosen, and a commit would have them; a lazy clone keeps copies of
// blobs that a reset removed. They are quarantined first. If there is a stash, which may need them,
// they are left and reported.
func (r *run) addStrays(ctx context.Context) error {
	if r.target.Rule == "" || len(r.res.Skipped) > 0 {
		return nil
	}
	index, err := r.Repo.Index(ctx)
	if err != nil {
		return err
	}
	if stashed, err := r.Repo.HasStash(ctx); err != nil || stashed {
		return err
	}
	needed, err := r.referred(ctx, true)
	if err != nil || needed == nil {
		return err
	}
	keeper := quarantine.Keeper{
		Quarantine: r.Quarantine, Kind: quarantine.Redacted, Now: r.Now, PID: r.PID,
	}
	for _, h := range r.stored(index) {
		if needed[h] || r.gone[h] {
			continue
		}
		gz, content, err := r.blob(index, h)
		if err != nil || !r.target.isIn(h, content) {
			continue // what cannot be read is counted later
		}
		if err := keeper.Keep(workspace.BlobPath(workspace.DirName, h), gz); err != nil {
			return err
		}
		r.gone[h] = true
		r.res.Strays = append(r.res.Strays, h)
	}
	if r.res.StraysKept = keeper.Name(); r.res.StraysKept != "" {
		r.res.Kept = append(r.res.Kept, r.res.StraysKept)
	}
	return ctx.Err()
}

// stored returns the blobs of the store, of its copies in a lazy clone, and of the index, sorted.
func (t Tracked) stored(index *gitint.Index) []blobs.Hash {
	all := map[blobs.Hash]bool{}
	for h, err := range t.Workspace.Blobs().All() {
		if err == nil {
			all[h] = true
		}
	}
	below := path.Join(t.Dir, blobs.Dir)
	for h, err := range spare.All(t.Repo.GitDir(), below) {
		if err == nil {
			all[h] = true
		}
	}
	entries, _ := index.Entries(below) // an index that was read has no error
	for _, e := range entries {
		if h, ok := blobs.ParsePath(e.Path[len(below)+1:]); ok {
			all[h] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), blobs.Hash.Compare)
}

// blob returns a blob of the store, or else its copy, or that of the index, and its content.
func (t Tracked) blob(index *gitint.Index, h blobs.Hash) (gz, content []byte, err error) {
	file := filepath.Join(t.Workspace.Dir(), blobs.Dir, filepath.FromSlash(h.Path()))
	if gz, err = regular.ReadFile(file, t.Repo.Limits().Of(file)); err == nil {
		if content, err = blobs.DecodeHash(gz, h); err == nil {
			return gz, content, nil
		}
	}
	if gz, ok := spare.File(t.Repo.GitDir(), path.Join(t.Dir, blobs.Dir), h); ok {
		content, err = blobs.DecodeHash(gz, h)
		return gz, content, err
	}
	if gz, err = index.ReadFile(workspace.BlobPath(t.Dir, h)); err != nil {
		return nil, nil, err
	}
	content, err = blobs.DecodeHash(gz, h)
	return gz, content, err
}

// referred returns the content to which the streams of the working tree refer, the sides of
// unmerged ones, and, if indexed, those of the index. It is nil if it is not known.
func (r *run) referred(
	ctx context.Context, indexed bool,
) (needed map[blobs.Hash]bool, err error) {
	all, problems, err := r.Workspace.List(workspace.ListOptions{Archived: true})
	problems = slices.DeleteFunc(problems, func(p workspace.Problem) bool {
		return p.Kind == workspace.Duplicate && r.unmerged[p.ID]
	})
	if err != nil || len(problems) > 0 {
		return nil, err
	}
	needed = map[blobs.Hash]bool{}
	add := func(stream []byte) error {
		found, err := events.References(stream)
		for _, at := range found {
			needed[at.Ref.Hash] = true
		}
		return err
	}
	seen := map[gitint.OID]bool{}
	for _, e := range all {
		data, err := r.Workspace.ReadFile(e, workspace.EventsFile)
		if err == nil && data != nil {
			seen[r.Repo.HashBlob(data)] = true
			err = add(data)
		}
		if err != nil && !r.unmerged[e.ID] { // git may have left markers, and has both sides
			return nil, err
		}
	}
	index, err := r.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	var streams []gitint.Entry
	if indexed {
		streams, err = index.Entries(path.Join(r.Dir, workspace.Live.Dir()))
	}
	for _, s := range index.Stages() {
		streams = append(streams, s.Entry)
	}
	for _, e := range streams {
		if path.Base(e.Path) != workspace.EventsFile || seen[e.OID] {
			continue
		}
		seen[e.OID] = true
		data, err := r.Repo.ReadObject(ctx, e.OID, r.Repo.Limits().OfStream())
		if err != nil || add(data) != nil {
			return nil, ctx.Err()
		}
	}
	return needed, err
}
