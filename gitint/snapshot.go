package gitint

import "io/fs"

// A Snapshot is a set of files in git: a Tree or an Index.
type Snapshot interface {
	fs.ReadFileFS
	fs.ReadDirFS
	// Entries returns every file below the directory dir and its subdirectories, sorted by path.
	// "." is the root. A missing directory has none.
	Entries(dir string) ([]Entry, error)
	// Children returns the direct entries of a directory, unsorted, including the objects of
	// directories that have one. The error is an fs.ErrNotExist if there is no such directory.
	Children(dir string) ([]Entry, error)
	// OID returns the object of a file.
	OID(path string) (OID, bool)
	// Name returns what was read: the revision, or "index".
	Name() string
}
