package check

import (
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
	d := &Directory{src: src, name: name}
	var err error
	if from, ok := src.(openerOfFolders); ok {
		d.open, err = from.OpenFolder(name)
	}
	switch {
	case err != nil:
		return nil, err
	case d.open == nil:
		d.Entries, err = src.List(name)
		return d, err
	}
	for _, e := range d.open.Entries() {
		d.Entries = append(d.Entries, Entry{Name: e.Name(), Mode: e.Type()})
	}
	return d, nil
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
	return nil, nil //nolint:nilnil // the documented answer
}
