package gitint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// absent returns which of many objects a partial clone lacks: most of those that a check of a lazy
// clone asks for. Looking for each takes three system calls. If that does not pay, or cannot be
// determined, absent reports none.
func (r *Repo) absent(ctx context.Context, ids []OID) (gone []bool, err error) {
	gone = make([]bool, len(ids))
	if len(ids) < bulkFrom { // also without a repository
		return gone, nil
	}
	shape, err := r.shape(ctx)
	if err != nil || !shape.partial || !shape.objectsInProcess {
		return gone, err
	}
	before := packTimes(shape.objectDirs)
	loose, err := looseObjects(shape.objectDirs) // before packs, into which they may be moved
	if err != nil {
		return gone, nil //nolint:nilerr // who looks for one of them knows what is wrong
	}
	all, leave, missed := r.objects.packs.use(shape.objectDirs)
	defer leave()
	_, elsewhere := findPacked(all, ids)
	if missed != nil || !slices.EqualFunc(before, packTimes(shape.objectDirs), time.Time.Equal) {
		return gone, ctx.Err()
	}
	for _, i := range elsewhere {
		gone[i] = !loose[ids[i]]
	}
	return gone, ctx.Err()
}

// looseObjects lists the loose objects.
func looseObjects(dirs []string) (map[OID]bool, error) {
	found := make(map[OID]bool)
	for _, dir := range dirs {
		for i := range 256 {
			begin := fmt.Sprintf("%02x", i)
			entries, err := os.ReadDir(filepath.Join(dir, begin))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			for _, e := range entries {
				if id, err := ParseOID(begin + e.Name()); err == nil {
					found[id] = true
				}
			}
		}
	}
	return found, nil
}
