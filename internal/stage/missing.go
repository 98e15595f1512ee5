package stage

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/workspace"
)

// missing returns the blobs to add, by path, which a lazy clone may have to put back first. Blobs
// that are unreadable, absent or damaged are left to the check.
func (c *commit) missing(ctx context.Context, lazy bool) (map[string]blobs.Ref, error) {
	wanted := map[string]blobs.Ref{}
	stores := map[string]*blobs.Store{}
	finder := spare.NewFinder(c.hook.Repo)
	defer func() {
		for _, s := range stores {
			_ = s.Close()
		}
	}()
	for name, oid := range c.streams {
		if c.hook.of(name).CheckOnly {
			continue
		}
		dir, _ := workspace.PathDir(name)
		if stores[dir] == nil {
			store, err := c.openStore(dir)
			if err != nil {
				return nil, err
			}
			stores[dir] = store
		}
		res, err := c.cache.References(oid, func() ([]byte, error) {
			return c.index.ReadFile(name)
		})
		if err != nil {
			return nil, err
		}
		for _, at := range res.Refs {
			file := path.Join(dir, blobs.Dir, at.Ref.Hash.Path())
			_, there := c.index.OID(file)
			if _, known := wanted[file]; there || known {
				continue
			}
			err := stores[dir].Verify(at.Ref)
			if lazy && errors.Is(err, fs.ErrNotExist) {
				_, _ = finder.Find(ctx, file)
				err = stores[dir].Verify(at.Ref)
			}
			if err == nil {
				wanted[file] = at.Ref
			} else if bad, ok := errors.AsType[*blobs.CorruptError](err); ok {
				c.corrupt[at.Ref.Hash] = bad.Reason
			}
		}
	}
	return wanted, nil
}

func (c *commit) openStore(dir string) (*blobs.Store, error) {
	at := filepath.Join(c.hook.Repo.Root(), filepath.FromSlash(dir), blobs.Dir)
	return blobs.Open(at, blobs.Options{
		Limits: blobs.Limits{MaxBlobBytes: c.hook.of(dir).MaxBlobBytes},
	})
}
