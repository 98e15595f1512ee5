package stage

import (
	"context"
	"errors"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/workspace"
)

// unsound reports blobs that the commit would bring and that are not what their names say: from
// then on everybody would take them for content that is there. What is merged has been judged.
func (c *commit) unsound(ctx context.Context, v *Verdict) error {
	if len(c.blobs) == 0 {
		return nil
	}
	revs, err := (&secretsOf{repo: c.hook.Repo}).known(ctx)
	if err != nil {
		return err
	}
	brought := slices.Clone(c.blobs)
	for _, rev := range revs {
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
	ids := make([]gitint.OID, len(brought))
	for i, e := range brought {
		ids[i] = e.OID
	}
	report := &check.Report{}
	err = c.hook.Repo.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		dir, _ := workspace.PathDir(brought[i].Path)
		h, _ := blobOf(dir, brought[i].Path)
		if err == nil && !blobs.IsPointer(data) {
			_, err = blobs.DecodeHash(data, h)
		}
		told := func(f check.Finding) bool { return f.Hash == h }
		if corrupt := new(blobs.CorruptError); errors.As(err, &corrupt) &&
			!slices.ContainsFunc(v.Blocking, told) {
			report.Add(check.Finding{
				State: check.Corrupt, Commit: check.IndexName, Path: brought[i].Path, Element: -1,
				Detail: "is corrupt: " + corrupt.Reason, Next: "git jp repair",
			})
		}
		return nil
	})
	v.Blocking = append(v.Blocking, report.Findings...)
	return err
}
