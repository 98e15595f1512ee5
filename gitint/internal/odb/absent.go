package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// Absent reports which of many objects are neither in a pack nor in a file. Looking for each alone
// takes three system calls. If it cannot be determined, Absent reports none.
func (d *DB) Absent(ids []object.ID) []bool {
	gone := make([]bool, len(ids))
	before := packTimes(d.dirs)
	loose, err := looseObjects(d.dirs) // before packs, into which they may be moved
	if err != nil {
		return gone // who looks for one of them knows what is wrong
	}
	all, leave, missed := d.packs.use(d.dirs)
	defer leave()
	_, elsewhere := findPacked(all, ids)
	if missed != nil || !slices.EqualFunc(before, packTimes(d.dirs), time.Time.Equal) {
		return gone
	}
	for _, i := range elsewhere {
		gone[i] = !loose[ids[i]]
	}
	return gone
}

// LooseIn lists the loose objects in a directory of objects, without those of its alternates.
func LooseIn(dir string) ([]object.ID, error) {
	found, err := looseObjects([]string{dir})
	return slices.Collect(maps.Keys(found)), err
}

// looseObjects lists the loose objects.
func looseObjects(dirs []string) (map[object.ID]bool, error) {
	found := make(map[object.ID]bool)
	for _, dir := range dirs {
		for i := range 256 {
			begin := fmt.Sprintf("%02x", i)
			entries, err := os.ReadDir(filepath.Join(dir, begin))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			for _, e := range entries {
				if id, err := object.ParseID(begin + e.Name()); err == nil {
					found[id] = true
				}
			}
		}
	}
	return found, nil
}
