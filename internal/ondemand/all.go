package ondemand

import (
	"context"
	"fmt"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// BringAll fetches, in one request, all blobs that the index names in any workspace and that are
// not here.
func BringAll(ctx context.Context, repo *gitint.Repo, f Fetch) error {
	index, err := repo.Index(ctx)
	if err != nil {
		return err
	}
	dirs, err := gitint.NewDirFinder(workspace.DirName).Find(index)
	if err != nil {
		return err
	}
	var ids []gitint.OID
	for _, dir := range dirs {
		entries, err := index.Entries(dir + "/" + blobs.Dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			ids = append(ids, e.OID)
		}
	}
	missing, err := repo.HasObject(ctx, ids)
	switch {
	case err != nil || len(missing) == 0:
		return err
	case f.Offline:
		return fmt.Errorf("%d blobs are not here: %w", len(missing), ErrOffline)
	}
	done := func() {}
	if f.Begin != nil {
		done = f.Begin(len(missing), 0)
	}
	defer done()
	return repo.Bring(ctx, missing)
}
