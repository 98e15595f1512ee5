package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// A store is one of the two places for conversations: .jp or user-local storage.
type store struct {
	dir    string   // absolute
	prefix string   // prefix of the paths of entries
	local  bool     // it is user-local storage
	root   *os.Root // of dir; nil if a commit has it
	fsys   fs.FS    // of root; tests count what is opened
	limits regular.Limits
	blobs  *blobs.Store
	hook   func(atomicfile.Step, string) error // for tests

	elsewhere Elsewhere // has blobs that have no file; nil for none
}

func openStore(dir, prefix string, local bool, env Env) (*store, error) {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	options := blobs.Options{
		Limits: blobs.Limits{MaxBlobBytes: env.Settings.MaxBlobBytes},
		Now:    env.Now, Private: local,
	}
	var elsewhere Elsewhere
	if env.Elsewhere != nil && !local {
		elsewhere, options.Elsewhere = env.Elsewhere, env.Elsewhere
	}
	content, err := blobs.Open(filepath.Join(dir, blobs.Dir), options)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &store{
		dir: dir, prefix: prefix, local: local, root: root, fsys: regular.In(root),
		limits: env.Settings.limits(), blobs: content, elsewhere: elsewhere,
	}, nil
}

func (s *store) close() error {
	switch {
	case s == nil:
		return nil
	case s.root == nil:
		return s.blobs.Close()
	}
	return errors.Join(s.blobs.Close(), s.root.Close())
}

// expect announces reads of a stream's contents.
func (s *store) expect(stream *events.Stream) {
	if s.elsewhere == nil || stream == nil {
		return
	}
	s.elsewhere.Expect(func(yield func(blobs.Ref) bool) {
		for c := range stream.Contents() {
			if c.Content.IsRef() && !yield(c.Content.Ref()) {
				return
			}
		}
	})
}

// read reads a file that is not a symlink.
func (s *store) read(name string) ([]byte, error) {
	return s.reader().file(name)
}

// path returns the path of an entry's file below the store's root.
func (s *store) path(e Entry, elem ...string) string {
	return path.Join(append([]string{e.Partition.Dir(), e.Dirname}, elem...)...)
}

// scan is ScanOf with the paths of entries.
func (s *store) scan(wanted func(events.ID) bool) ([]Entry, []Problem, error) {
	entries, problems, err := ScanOf(s.fsys, ".", wanted)
	for i := range entries {
		entries[i].Local = s.local
		entries[i].Path = path.Join(s.prefix, entries[i].Path)
	}
	for i := range problems {
		problems[i].Local = s.local
		problems[i].Path = path.Join(s.prefix, problems[i].Path)
		if problems[i].Kind == Duplicate {
			problems[i].Detail = path.Join(s.prefix, problems[i].Detail)
		}
	}
	return entries, problems, err
}

// find returns the directories with an id, by their names alone. An error listing one partition
// counts only if the other has no such directory.
func (s *store) find(id events.ID) ([]Entry, error) {
	if s.root == nil {
		return s.findCommitted(id)
	}
	var found []Entry
	var failed error
	for _, p := range []Partition{Live, Archive} {
		names, err := s.names(p, id)
		failed = errors.Join(failed, err)
		for _, name := range names {
			if !s.isDir(p, name) {
				continue
			}
			e := Entry{ID: id, Local: s.local}.at(p, name, s.prefix)
			var ok bool
			if e.Legacy, ok = s.isConversation(e); ok {
				found = append(found, e)
			}
		}
	}
	if failed != nil && len(found) == 0 {
		return nil, fmt.Errorf("find conversation %s: %w", id, failed)
	}
	return found, nil
}

// names returns the names in a partition that have an id, sorted. It only lists names, because a
// change of many conversations searches all names for each.
func (s *store) names(p Partition, id events.ID) ([]string, error) {
	names, err := s.allNames(p)
	names = slices.DeleteFunc(names, func(name string) bool {
		got, ok := events.ParseDirname(name)
		return !ok || got != id
	})
	slices.Sort(names)
	return names, err
}

// allNames returns the names in a partition, unsorted.
func (s *store) allNames(p Partition) ([]string, error) {
	switch info, err := s.root.Stat(p.Dir()); {
	case isNone(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir(): // opening a pipe would wait for a writer
		return nil, nil
	}
	d, err := s.root.Open(p.Dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	return names, errors.Join(err, d.Close())
}

func (s *store) isDir(p Partition, name string) bool {
	info, err := s.root.Lstat(path.Join(p.Dir(), name))
	return err == nil && info.IsDir()
}

// isConversation reports whether a directory has a file of a conversation, and whether it is an old
// one. Git leaves a directory that has none if other files are in it.
func (s *store) isConversation(e Entry) (legacy, ok bool) {
	has := func(name string) bool {
		_, err := s.root.Lstat(s.path(e, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case has(EventsFile):
		return false, true
	case has(MessagesFile):
		return true, true
	default:
		return false, has(MetadataFile) || has(BaseConfigFile)
	}
}

func (s *store) write(name string, data []byte) error {
	return atomicfile.Write(s.root, name, data, s.options())
}

// replace writes a file of a conversation if it has not changed since it was read. A file that was
// removed is written again, unless the directory of the conversation was renamed.
func (s *store) replace(e Entry, f file) error {
	opts := s.options()
	opts.Spare = f.spare
	opts.Gone = func() error {
		found, err := s.find(e.ID)
		isHere := func(f Entry) bool { return f.Path == e.Path }
		if err == nil && len(found) > 0 && !slices.ContainsFunc(found, isHere) {
			err = atomicfile.ErrChanged
		}
		return err
	}
	change := atomicfile.Change{Old: f.old, Same: f.same, Rest: f.rest}
	return atomicfile.ReplaceBy(s.root, s.path(e, f.name), change, opts)
}

func (s *store) options() atomicfile.Options {
	return atomicfile.Options{TempDir: tempDir, Private: s.local, Hook: s.hook}
}

// errTaken reports that something else has the name of a directory. It is distinct from the
// [fs.ErrExist] that the system may return for a path above the directory.
var errTaken = fmt.Errorf("the name is taken: %w", fs.ErrExist)

// rename moves a directory and makes that durable. The target must not exist: the system would
// replace an empty directory.
func (s *store) rename(from, to string) error {
	if err := s.mkdir(path.Dir(to)); err != nil {
		return err
	}
	switch info, err := s.root.Lstat(to); {
	case err == nil && info.IsDir() && s.root.Remove(to) == nil: // it was empty
	case err == nil:
		return &fs.PathError{Op: "rename", Path: to, Err: errTaken}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := atomicfile.MoveDir(s.root, from, to, s.options()); err != nil {
		return err
	}
	return errors.Join(s.syncDir(path.Dir(from)), s.syncDir(path.Dir(to)))
}

func (s *store) mkdir(dir string) error {
	if s.local {
		return s.root.MkdirAll(dir, 0o700)
	}
	return s.root.MkdirAll(dir, atomicfile.DirPerm)
}

// syncDir makes a rename durable if the system can.
func (s *store) syncDir(dir string) error {
	d, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every file system can; the rename happened
	return d.Close()
}

func (s *store) step(step atomicfile.Step, name string) error {
	if s.hook == nil {
		return nil
	}
	return s.hook(step, name)
}

// modTime returns the modification time of a file, zero if it does not exist.
func (s *store) modTime(name string) time.Time {
	info, err := s.root.Lstat(name)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
