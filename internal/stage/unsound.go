package stage

import (
	"context"
	"errors"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/workspace"
)

// unsound reports blobs that the commit would bring and whose content does not match their names: a
// check that reads no content would count them as present. What is merged has been checked.
func (c *commit) unsound(ctx context.Context, v *Verdict) error {
	if len(c.blobs) == 0 {
		return nil
	}
	heads, merged, err := (&secretsOf{repo: c.hook.Repo}).known(ctx)
	if err != nil {
		return err
	}
	brought := slices.Clone(c.blobs)
	for _, rev := range append(heads, merged...) {
		tree, err := c.hook.Repo.Tree(ctx, rev)
		if errors.Is(err, gitint.ErrUnknownRevision) {
			continue
		}
		if err != nil {
			return err
		}
		brought = slices.DeleteFunc(brought, func(e gitint.Entry) bool {
			was, ok := tree.OID(e.Path)
			return ok && was == e.OID
		})
	}
	ids := lists.Map(brought, func(e gitint.Entry) gitint.OID { return e.OID })
	report := &check.Report{}
	err = c.hook.Repo.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		dir, _ := workspace.PathDir(brought[i].Path)
		h, _ := blobOf(dir, brought[i].Path)
		if err == nil && !blobs.IsPointer(data) {
			// The content is not kept, however large it is; its size is not known here.
			limits := blobs.Limits{MaxBlobBytes: c.hook.of(dir).MaxBlobBytes}
			err = blobs.Verify(data, blobs.Ref{Hash: h}, limits.Max())
		}
		f := check.Finding{Commit: check.IndexName, Path: brought[i].Path, Element: -1}
		corrupt, size := new(blobs.CorruptError), new(blobs.SizeError)
		switch {
		case slices.ContainsFunc(v.Blocking, func(f check.Finding) bool { return f.Hash == h }):
		case errors.As(err, &corrupt):
			f.State, f.Detail = check.Corrupt, "is corrupt: "+corrupt.Reason
			f.Next = "git jp repair"
			report.Add(f)
		case errors.As(err, &size) && size.Actual < 0: // else only the reference is missing
			f.State, f.Detail = check.Oversize, "has more than storage.max_blob_bytes"
			report.Add(f)
		}
		return nil
	})
	v.Blocking = append(v.Blocking, report.Findings...)
	return err
}
