package stage

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/workspace"
)

// missing returns the blobs to add, by path, which a lazy clone may have to put back first, and
// those that it does not have and a remote has promised. Blobs that are unreadable, absent or
// damaged are left to the check.
func (c *commit) missing(
	ctx context.Context, lazy bool,
) (wanted map[string]blobs.Ref, promised []gitint.Entry, err error) {
	wanted, absent := map[string]blobs.Ref{}, map[string]gitint.Entry{}
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
				return nil, nil, err
			}
			stores[dir] = store
		}
		res, err := c.cache.References(oid, func() ([]byte, error) {
			return c.index.ReadFile(name)
		})
		if err != nil {
			return nil, nil, err
		}
		for _, at := range res.Refs {
			file := path.Join(dir, blobs.Dir, at.Ref.Hash.Path())
			_, there := c.index.OID(file)
			if _, known := wanted[file]; there || known {
				continue
			}
			err := stores[dir].Verify(at.Ref)
			if lazy && errors.Is(err, fs.ErrNotExist) {
				if oid, ok := finder.Find(ctx, file); ok && !oid.IsZero() {
					absent[file] = gitint.Entry{Path: file, Mode: gitint.ModeFile, OID: oid}
				}
				err = stores[dir].Verify(at.Ref)
			}
			if err == nil {
				wanted[file] = at.Ref
			} else if bad, ok := errors.AsType[*blobs.CorruptError](err); ok {
				c.corrupt[at.Ref.Hash] = bad.Reason
			}
		}
	}
	promised = slices.Collect(maps.Values(absent))
	lost, err := c.hook.Repo.Unpromised(ctx, promised)
	promised = slices.DeleteFunc(promised, func(e gitint.Entry) bool {
		return slices.Contains(lost, e)
	})
	return wanted, promised, err
}

func (c *commit) openStore(dir string) (*blobs.Store, error) {
	at := filepath.Join(c.hook.Repo.Root(), filepath.FromSlash(dir), blobs.Dir)
	return blobs.Open(at, blobs.Options{
		Limits: blobs.Limits{MaxBlobBytes: c.hook.of(dir).MaxBlobBytes},
	})
}
