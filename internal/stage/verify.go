package stage

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// verify compares what git made of the files with what was checked, before anybody
// else sees the index.
func (p *Plan) verify(ctx context.Context, staged []gitint.Entry) error {
	for _, e := range staged {
		if p.oids[e.Path] == e.OID || p.absent[e.Path].OID == e.OID {
			continue
		}
		var err error
		if h, ok := blobOf(p.req.Dir, e.Path); ok {
			err = p.verifyBlob(ctx, p.refs[h], e)
		} else if path.Base(e.Path) == workspace.EventsFile {
			err = p.verifyStream(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	if p.Report.Problems() {
		return &RefusedError{p.Report}
	}
	return nil
}

// verifyStream holds that what a stream refers to is in the plan. A line ending filter
// changes a stream and not its references; somebody who writes to it may change both.
func (p *Plan) verifyStream(ctx context.Context, e gitint.Entry) error {
	cache := p.req.Cache
	if cache == nil {
		cache = &refs.Cache{}
	}
	res, err := cache.References(refs.ObjectID(e.OID.String()), func() ([]byte, error) {
		return p.req.Repo.ReadObject(ctx, e.OID, 0)
	})
	switch {
	case err != nil:
		return fmt.Errorf("read what was staged as %s: %w", e.Path, err)
	case res.Err != nil:
		return errMoved
	}
	for _, at := range res.Refs {
		if ref, ok := p.refs[at.Ref.Hash]; at.Counts() && (!ok || ref != at.Ref) {
			return errMoved
		}
	}
	return nil
}

// verifyBlob reports a blob that a filter turned into something else.
func (p *Plan) verifyBlob(ctx context.Context, ref blobs.Ref, e gitint.Entry) error {
	f, err := filtered(ctx, p.req.Repo, blobs.Limits{MaxBlobBytes: p.req.MaxBlobBytes}, ref, e)
	if err != nil {
		return err
	}
	if f.State != "" {
		p.Report.Add(f)
	}
	return nil
}

// filtered says what is wrong with a staged blob. A finding without a state is none.
func filtered(
	ctx context.Context, repo *gitint.Repo, limits blobs.Limits, ref blobs.Ref, e gitint.Entry,
) (check.Finding, error) {
	f := check.Finding{
		Commit: check.IndexName, Path: e.Path, Element: -1, Hash: ref.Hash, Size: ref.Size,
	}
	data, err := repo.ReadObject(ctx, e.OID, 0)
	if err != nil {
		return f, fmt.Errorf("read what was staged as %s: %w", e.Path, err)
	}
	err = blobs.Verify(data, ref, limits.Max())
	switch {
	case err == nil:
	case blobs.IsPointer(data) && isPointed(repo, e.Path, data):
		return f, nil
	case blobs.IsPointer(data):
		f.State = check.LFSPointer
		f.Detail = "would be committed as a pointer of Git LFS to something else"
	default:
		f.State = check.Corrupt
		f.Detail = "would be damaged by a filter of the attributes: " + err.Error()
	}
	f.Next = "git check-attr -a -- " + e.Path
	return f, nil
}

// isPointed reports whether a pointer that is staged is what the working tree has, or stands for
// the file that this has.
func isPointed(repo *gitint.Repo, name string, pointer []byte) bool {
	file := filepath.Join(repo.Root(), filepath.FromSlash(name))
	data, err := regular.ReadFile(file, repo.Limits().Of(name))
	return err == nil && (bytes.Equal(data, pointer) || blobs.PointsTo(pointer, data))
}

// blobOf returns the blob that lies at a path of the workspace dir.
func blobOf(dir, name string) (blobs.Hash, bool) {
	rest, ok := strings.CutPrefix(name, dir+"/"+blobs.Dir+"/")
	if !ok {
		return blobs.Hash{}, false
	}
	return blobs.ParsePath(rest)
}
