package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A dirFinder finds the directories .jp of snapshots. It remembers what it found in a
// directory by the object of that directory, so that many commits of a history
// cost little more than one.
type dirFinder struct {
	known map[gitint.OID][]string // below the directory
	room  gitint.Room
}

func newDirFinder() *dirFinder { return &dirFinder{known: make(map[gitint.OID][]string)} }

// find returns the paths of the directories .jp of a snapshot, sorted. It does not look
// for one in another.
func (f *dirFinder) find(snap gitint.Snapshot) ([]string, error) {
	dirs, err := f.below(snap, ".")
	if err != nil {
		return nil, fmt.Errorf("look for workspaces in %s: %w", snap.Name(), err)
	}
	return append([]string{}, dirs...), nil
}

// below returns the directories .jp below dir, relative to it.
func (f *dirFinder) below(snap gitint.Snapshot, dir string) ([]string, error) {
	entries, err := snap.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if e.Name() == workspace.DirName {
			dirs = append(dirs, e.Name())
			continue
		}
		below := path.Join(dir, e.Name())
		if err := f.room.Take(len(below)); err != nil {
			return nil, err
		}
		inside, err := f.inside(snap, below, e)
		if err != nil {
			return nil, err
		}
		for _, p := range inside {
			if err := f.room.Take(len(below) + len(p)); err != nil {
				return nil, err
			}
			dirs = append(dirs, path.Join(e.Name(), p))
		}
	}
	slices.Sort(dirs)
	return dirs, nil
}

// inside is below with the memory of earlier snapshots.
func (f *dirFinder) inside(snap gitint.Snapshot, dir string, e fs.DirEntry) ([]string, error) {
	oid := objectOf(e)
	if dirs, ok := f.known[oid]; ok && !oid.IsZero() {
		return dirs, nil
	}
	dirs, err := f.below(snap, dir)
	if err == nil {
		f.known[oid] = dirs
	}
	return dirs, err
}

// objectOf returns the tree of a directory, zero where there is none, as in an index.
func objectOf(e fs.DirEntry) gitint.OID {
	info, err := e.Info()
	if err != nil {
		return gitint.OID{}
	}
	entry, ok := info.Sys().(gitint.Entry)
	if !ok {
		return gitint.OID{}
	}
	return entry.OID
}

// union returns the sorted elements of both.
func union(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// subdir is a directory of a snapshot as a file system of its own. fs.Sub would
// do, if it kept the snapshot's own way to read a file.
type subdir struct {
	snap gitint.Snapshot
	dir  string
}

// Open implements fs.FS.
func (s subdir) Open(name string) (fs.File, error) { return s.snap.Open(path.Join(s.dir, name)) }

// ReadFile implements fs.ReadFileFS.
func (s subdir) ReadFile(name string) ([]byte, error) {
	return s.snap.ReadFile(path.Join(s.dir, name))
}
