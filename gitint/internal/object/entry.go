package object

import (
	"io/fs"
	"strconv"
)

// An Entry is a file of a snapshot.
type Entry struct {
	// Path is the slash path from the root, byte for byte as git has it. It need not be UTF-8.
	Path string
	Mode Mode
	OID  ID
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

// CanonicalMode returns the mode as git prints it: old programs wrote other modes for files.
func CanonicalMode(mode uint32) Mode {
	const kind, file = 0o170000, 0o100000
	switch {
	case mode&kind == file && mode&0o100 != 0:
		return ModeExecutable
	case mode&kind == file:
		return ModeFile
	case mode&kind == uint32(ModeSymlink):
		return ModeSymlink
	case mode&kind == uint32(ModeDir):
		return ModeDir
	}
	return ModeSubmodule
}

// end returns the suffix that git adds to the name of an entry for sorting.
func (m Mode) end() string {
	if m == ModeDir {
		return "/"
	}
	return ""
}

// ParseEntry parses what git prints of a file: its mode in octal digits, its object and its path.
func ParseEntry(mode, oid, name string) (Entry, error) {
	bits, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		return Entry{}, err
	}
	id, err := ParseID(oid)
	return Entry{Path: name, Mode: Mode(bits), OID: id}, err
}
