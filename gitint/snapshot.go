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

// An Entry is a file of a snapshot.
type Entry struct {
	// Path is the slash path from the root, byte for byte as git has it. It need
	// not be UTF-8.
	Path string
	Mode Mode
	OID  OID
}

// A Mode is the mode of an entry.
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

// FileMode returns the mode as Go has it. A submodule is irregular.
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
