package check

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/git-jp/git-jp/internal/regular"
)

// A Directory is a listed directory of a source. A caller that reads many of its files resolves the
// path once.
type Directory struct {
	Entries []Entry

	src  Source
	name string
	open *regular.Folder // nil if the source has no files of the operating system
	turn regular.Turn
}

// An openerOfFolders is a source, or the file system of one, with directories of the operating
// system.
type openerOfFolders interface {
	OpenFolder(name string) (*regular.Folder, error)
}

// OpenDirectory opens and lists a directory of a source. The error is that of [Source.List]. Close
// it after use.
func OpenDirectory(src Source, name string) (*Directory, error) {
	var folder *regular.Folder
	var err error
	if from, ok := src.(openerOfFolders); ok {
		folder, err = from.OpenFolder(name)
	}
	if err != nil {
		return nil, err
	}
	return newDirectory(src, name, folder)
}

// newDirectory lists a directory, which is open if the source has files of the operating system.
func newDirectory(src Source, name string, open *regular.Folder) (d *Directory, err error) {
	d = &Directory{src: src, name: name, open: open}
	if open == nil {
		d.Entries, err = src.List(name)
		return d, err
	}
	for _, e := range open.Entries() {
		d.Entries = append(d.Entries, Entry{Name: e.Name(), Mode: e.Type()})
	}
	return d, nil
}

// sub opens and lists a directory in this one.
func (d *Directory) sub(name string) (*Directory, error) {
	var folder *regular.Folder
	if d.open != nil {
		var err error
		if folder, err = d.open.Open(name); err != nil {
			return nil, err
		}
	}
	return newDirectory(d.src, path.Join(d.name, name), folder)
}

// walk calls f for the files below a directory in this one, with prefix and their paths below it.
// What was removed since it was listed has none.
func (d *Directory) walk(ctx context.Context, dir, prefix string, f func(Entry)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in, err := d.sub(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return ListError(d.src, path.Join(d.name, dir), err)
	}
	defer in.Close() //nolint:errcheck // was only read
	for _, e := range in.Entries {
		name := prefix + "/" + e.Name
		if !e.Mode.IsDir() {
			e.Name = name
			f(e)
			continue
		}
		if err := in.walk(ctx, e.Name, name, f); err != nil {
			return err
		}
	}
	return nil
}

// Read reads a listed file.
func (d *Directory) Read(name string, limit int64) ([]byte, error) {
	if d.open == nil {
		return d.src.ReadFile(path.Join(d.name, name))
	}
	data, done, err := d.open.Read(name, limit, &d.turn)
	done()
	return data, err
}

// Close closes the directory.
func (d *Directory) Close() error {
	if d == nil || d.open == nil {
		return nil
	}
	return d.open.Close()
}

// OpenFolder returns no folder if the file system is not one of the operating system.
func (s *fileSource) OpenFolder(name string) (*regular.Folder, error) {
	if from, ok := s.fsys.(openerOfFolders); ok {
		open, err := from.OpenFolder(name)
		if err != nil {
			err = s.unlisted(name, err)
		}
		return open, err
	}
	return nil, nil // the documented answer
}
