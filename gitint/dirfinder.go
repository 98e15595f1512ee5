package gitint

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// A DirFinder finds the directories of one name in snapshots. It caches the result for each
// directory by its object, so that many commits of a history cost little more than one.
type DirFinder struct {
	name  string
	known map[OID][]string // relative to the directory
	room  Room
}

// NewDirFinder returns a finder of directories with this name.
func NewDirFinder(name string) *DirFinder {
	return &DirFinder{name: name, known: make(map[OID][]string)}
}

// Find returns the paths of the directories in a snapshot, sorted. It does not search inside a
// directory that it found. The error is [ErrCrowded] if listing all directories would take too much
// memory.
func (f *DirFinder) Find(snap Snapshot) ([]string, error) {
	dirs, err := f.below(snap, ".")
	if err != nil {
		return nil, fmt.Errorf("look for directories %s in %s: %w", f.name, snap.Name(), err)
	}
	return append([]string{}, dirs...), nil
}

// below returns the matching directories below dir, relative to it.
func (f *DirFinder) below(snap Snapshot, dir string) ([]string, error) {
	entries, err := snap.Children(dir)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if e.Mode != ModeDir {
			continue
		}
		name := path.Base(e.Path)
		if name == f.name {
			dirs = append(dirs, name)
			continue
		}
		below := path.Join(dir, name)
		if err := f.room.Take(len(below)); err != nil {
			return nil, err
		}
		inside, err := f.inside(snap, below, e.OID)
		if err != nil {
			return nil, err
		}
		for _, p := range inside {
			if err := f.room.Take(len(below) + len(p)); err != nil {
				return nil, err
			}
			dirs = append(dirs, path.Join(name, p))
		}
	}
	slices.Sort(dirs)
	return dirs, nil
}

// inside is below with the cache of earlier snapshots. The tree is zero if there is none, as in an
// index.
func (f *DirFinder) inside(snap Snapshot, dir string, tree OID) ([]string, error) {
	if dirs, ok := f.known[tree]; ok && !tree.IsZero() {
		return dirs, nil
	}
	dirs, err := f.below(snap, dir)
	if err == nil {
		f.known[tree] = dirs
	}
	return dirs, err
}

// Sub returns a directory of a snapshot as a file system. Unlike [fs.Sub] it keeps the snapshot's
// own way to read a file.
func Sub(snap Snapshot, dir string) fs.ReadFileFS { return subdir{snap, dir} }

type subdir struct {
	snap Snapshot
	dir  string
}

// Open implements fs.FS.
func (s subdir) Open(name string) (fs.File, error) { return s.snap.Open(path.Join(s.dir, name)) }

// ReadFile implements fs.ReadFileFS.
func (s subdir) ReadFile(name string) ([]byte, error) {
	return s.snap.ReadFile(path.Join(s.dir, name))
}
