package stage

import (
	"context"
	"path"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/workspace"
)

// addDropped adds the blobs that the request drops to the plan's removals, except those that the
// new index refers to. They change together with the conversations: an index with only one of the
// two changes would have references without blobs, or blobs that had to be removed.
func (p *Plan) addDropped(ctx context.Context, s *survey) error {
	if len(p.req.Drop) == 0 {
		return nil
	}
	index, err := p.req.Repo.Index(ctx)
	if err != nil {
		return err
	}
	needed, known, err := p.stillReferred(ctx, s, index)
	if err != nil || !known {
		return err
	}
	for _, h := range p.req.Drop {
		name := s.blobPath(h)
		if _, ok := index.OID(name); ok && !needed[h] {
			p.Remove = append(p.Remove, name)
		}
	}
	return nil
}

// stillReferred returns the blobs to which the plan's streams refer, and the streams of the index
// that it leaves unchanged, including unmerged ones. known is false if one of these cannot be read.
func (p *Plan) stillReferred(
	ctx context.Context, s *survey, index *gitint.Index,
) (needed map[blobs.Hash]bool, known bool, err error) {
	needed, planned := map[blobs.Hash]bool{}, lists.Set(slices.Concat(p.all, p.Remove))
	for h := range p.refs {
		needed[h] = true
	}
	entries, err := index.Entries(s.conversations())
	if err != nil {
		return nil, false, err
	}
	for _, e := range index.Stages() {
		entries = append(entries, e.Entry)
	}
	for _, e := range entries {
		if path.Base(e.Path) != workspace.EventsFile || planned[e.Path] {
			continue
		}
		res, err := s.cache.References(e.OID, func() ([]byte, error) {
			return p.req.Repo.ReadObject(ctx, e.OID, p.req.Repo.Limits().OfStream())
		})
		if err != nil || res.Err != nil {
			return nil, false, ctx.Err()
		}
		for _, at := range res.Refs {
			needed[at.Ref.Hash] = true
		}
	}
	return needed, true, ctx.Err()
}
