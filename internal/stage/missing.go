package stage

import (
	"context"
	"errors"
	"io/fs"
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
	wanted = map[string]blobs.Ref{}
	var absent []string
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
				_, _ = finder.Find(ctx, file)
				err = stores[dir].Verify(at.Ref)
				absent = append(absent, file)
			}
			if err == nil {
				wanted[file] = at.Ref
			} else if bad, ok := errors.AsType[*blobs.CorruptError](err); ok {
				c.corrupt[at.Ref.Hash] = bad.Reason
			}
		}
	}
	promised, err = c.hook.Promised(ctx, absent)
	return wanted, promised, err
}

// Promised returns the index entries of those blobs that a lazy clone does not have and a remote
// has promised, by their paths.
func (h Hook) Promised(ctx context.Context, names []string) (all []gitint.Entry, err error) {
	if lazy, err := h.Repo.Lazy(ctx); err != nil || !lazy {
		return nil, err
	}
	finder := spare.NewFinder(h.Repo)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if oid, ok := finder.Find(ctx, name); ok && !oid.IsZero() {
			all = append(all, gitint.Entry{Path: name, Mode: gitint.ModeFile, OID: oid})
		}
	}
	lost, err := h.Repo.Unpromised(ctx, all)
	return slices.DeleteFunc(all, func(e gitint.Entry) bool {
		return slices.Contains(lost, e)
	}), err
}

func (c *commit) openStore(dir string) (*blobs.Store, error) {
	at := filepath.Join(c.hook.Repo.Root(), filepath.FromSlash(dir), blobs.Dir)
	return blobs.Open(at, blobs.Options{
		Limits: blobs.Limits{MaxBlobBytes: c.hook.of(dir).MaxBlobBytes},
	})
}
