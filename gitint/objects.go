package gitint

import "github.com/git-jp/git-jp/gitint/internal/object"

// An OID is the name of an object: a SHA-1 of 20 bytes, or a SHA-256 of 32 in repositories of that
// format. It is comparable, and the zero value names nothing.
type OID = object.ID

// ParseOID parses 40 or 64 hexadecimal digits.
func ParseOID(s string) (OID, error) { return object.ParseID(s) }

// OIDOf returns the OID with these 20 or 32 bytes; ok is false for any other length.
func OIDOf(raw []byte) (id OID, ok bool) {
	if len(raw) != object.SHA1Size && len(raw) != object.SHA256Size {
		return OID{}, false
	}
	return object.IDOf(raw), true
}

// What is known of an object without its repository.
type (
	// An Entry is a file of a snapshot.
	Entry = object.Entry
	// A Mode is the mode of an entry.
	Mode = object.Mode
	// A CommitHead has the references in a commit.
	CommitHead = object.CommitHead
	// A TreeData has the undecoded lines of one tree object: of many large trees that differ
	// little, most lines need not be decoded.
	TreeData = object.TreeData
)

// The modes that git knows.
const (
	ModeFile       = object.ModeFile
	ModeExecutable = object.ModeExecutable
	ModeSymlink    = object.ModeSymlink
	ModeSubmodule  = object.ModeSubmodule
	ModeDir        = object.ModeDir
)

// The errors about the content of an object.
type (
	// A CorruptObjectError reports an object whose content does not match its name, or cannot be
	// read.
	CorruptObjectError = object.CorruptError
	// An ObjectSizeError reports an object that is larger than the reader allows.
	ObjectSizeError = object.SizeError
)
