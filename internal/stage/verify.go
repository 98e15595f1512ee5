package stage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// verify compares git's staged objects with the files that were checked, before any other process
// sees the index.
func (p *Plan) verify(ctx context.Context, staged []gitint.Entry) error {
	for _, e := range staged {
		if p.oids[e.Path] == e.OID || p.absent[e.Path].OID == e.OID {
			continue
		}
		var err error
		if h, ok := blobOf(p.req.Dir, e.Path); ok {
			err = p.verifyBlob(ctx, p.refs[h], e)
		} else if slices.Contains(workspace.Files(), path.Base(e.Path)) {
			err = p.verifyFile(ctx, e)
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

// converting are the attributes by which git commits a text other than the file's. A changed line
// end changes nothing that was said.
var converting = []string{"ident", "working-tree-encoding", "filter"}

// verifyFile verifies that a file of a conversation is staged unchanged.
func (p *Plan) verifyFile(ctx context.Context, e gitint.Entry) error {
	file, err := p.file(e)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it was renamed since git read it, and the commit gets the object
	}
	if err == nil && p.req.Repo.HashBlob(file) != e.OID {
		err = p.verifyConverted(ctx, e, file)
	}
	if err != nil || path.Base(e.Path) != workspace.EventsFile || p.Report.Problems() {
		return err
	}
	return p.verifyStream(ctx, e)
}

// verifyConverted verifies that no attribute makes git commit another text than that of the file.
func (p *Plan) verifyConverted(ctx context.Context, e gitint.Entry, file []byte) error {
	values, err := p.req.Repo.CheckAttr(ctx, converting, []string{e.Path})
	if err != nil {
		return err
	}
	by := lists.Filter(converting, func(name string) bool {
		v := values[e.Path][name]
		return v != gitint.AttrUnspecified && v != gitint.AttrUnset
	})
	if len(by) == 0 {
		return nil
	}
	staged, err := p.req.Repo.ReadObject(ctx, e.OID, 0)
	if err != nil {
		return fmt.Errorf("read what was staged as %s: %w", e.Path, err)
	}
	if bytes.Equal(unix(staged), unix(file)) {
		return nil
	}
	f := check.Finding{
		State: check.Corrupt, Commit: check.IndexName, Path: e.Path, Element: -1,
		Detail: "would be committed as something else, by the attribute " +
			strings.Join(by, " and "),
		Next: check.ByAttributes(e.Path),
	}
	if blobs.IsPointer(staged) {
		f.Detail, f.Next = "would be stored in Git LFS, where no merge and no check can read it",
			check.OutOfLFS(e.Path)
	}
	p.Report.Add(f)
	return nil
}

func (p *Plan) file(e gitint.Entry) ([]byte, error) {
	name := filepath.Join(p.req.Repo.Root(), filepath.FromSlash(e.Path))
	return regular.ReadFile(name, p.req.Repo.Limits().Of(e.Path))
}

// unix returns text with the line ends that git has in its objects.
func unix(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }

// verifyStream verifies that everything that a stream refers to is in the plan. A line ending
// filter changes a stream and not its references; a concurrent writer may change both.
func (p *Plan) verifyStream(ctx context.Context, e gitint.Entry) error {
	cache := cmp.Or(p.req.Cache, &refs.Cache{})
	res, err := cache.References(e.OID, func() ([]byte, error) {
		return p.req.Repo.ReadObject(ctx, e.OID, 0)
	})
	switch {
	case err != nil:
		return fmt.Errorf("read what was staged as %s: %w", e.Path, err)
	case res.Err != nil:
		return &MovedError{e.Path}
	}
	for _, at := range res.Refs {
		if ref, ok := p.refs[at.Ref.Hash]; at.Counts() && (!ok || ref != at.Ref) {
			return &MovedError{e.Path}
		}
	}
	return nil
}

// verifyBlob reports a blob that a filter changed.
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

// filtered returns a finding about a staged blob. It has no state if the blob is fine.
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
	f.Next = check.ByAttributes(e.Path)
	return f, nil
}

// isPointed reports whether a staged pointer is the working tree's file, or points to the content
// of that file.
func isPointed(repo *gitint.Repo, name string, pointer []byte) bool {
	file := filepath.Join(repo.Root(), filepath.FromSlash(name))
	data, err := regular.ReadFile(file, repo.Limits().Of(name))
	return err == nil && (bytes.Equal(data, pointer) || blobs.PointsTo(pointer, data))
}

// blobOf returns the blob at a path of the workspace dir.
func blobOf(dir, name string) (blobs.Hash, bool) {
	rest, ok := strings.CutPrefix(name, dir+"/"+blobs.Dir+"/")
	if !ok {
		return blobs.Hash{}, false
	}
	return blobs.ParsePath(rest)
}
