package gitint

import "io/fs"

// A Snapshot is a set of files that git holds: a Tree or an Index.
type Snapshot interface {
	fs.ReadFileFS
	fs.ReadDirFS
	// Entries returns every file below the directory dir, and below the ones in
	// it, sorted by path. "." is the root. A directory that is not there has none.
	Entries(dir string) ([]Entry, error)
	// Children returns what lies directly in a directory, with the objects of
	// directories too where they have one, in no order. The error is an
	// fs.ErrNotExist when there is no such directory.
	Children(dir string) ([]Entry, error)
	// OID returns the object of a file.
	OID(path string) (OID, bool)
	// Name says what was read: the revision, or "index".
	Name() string
}

// An Entry is a file of a snapshot.
type Entry struct {
	// Path is the slash path from the root, byte for byte as git has it. It need
	// not be UTF-8.
	Path string
	Mode Mode
	OID  OID
}

// A Mode says what an entry is.
type Mode uint32

// The modes that git knows.
const (
	ModeFile       Mode = 0o100644
	ModeExecutable Mode = 0o100755
	ModeSymlink    Mode = 0o120000
	ModeSubmodule  Mode = 0o160000
	ModeDir        Mode = 0o040000
)

// IsRegular reports whether the entry is a file with content of its own.
func (m Mode) IsRegular() bool { return m == ModeFile || m == ModeExecutable }

// FileMode is the mode as the rest of Go has it. A submodule is irregular.
func (m Mode) FileMode() fs.FileMode {
	switch m {
	case ModeFile:
		return 0o644
	case ModeExecutable:
		return 0o755
	case ModeSymlink:
		return fs.ModeSymlink | 0o777
	case ModeDir:
		return fs.ModeDir | 0o755
	}
	return fs.ModeIrregular
}
