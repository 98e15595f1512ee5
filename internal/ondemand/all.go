package ondemand

import (
	"context"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// BringAll fetches, in one request, all blobs that the index names in any workspace and that are
// not here.
func BringAll(ctx context.Context, repo *gitint.Repo) error {
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
	return repo.Bring(ctx, ids, 0)
}
