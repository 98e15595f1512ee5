package workspace

import (
	"cmp"
	"fmt"
	"path"

	"github.com/git-jp/git-jp/events"
)

// A Partition is one of the two places of a conversation.
type Partition int

// The partitions.
const (
	Live Partition = iota
	Archive
)

// String returns "live" or "archive".
func (p Partition) String() string {
	if p == Archive {
		return "archive"
	}
	return "live"
}

const (
	conversationsDir = "conversations"
	archiveDir       = conversationsDir + "/.archive"
	tempDir          = "blobs/.tmp"
)

// Dir is the directory of the partition below .jp or user-local storage.
func (p Partition) Dir() string {
	if p == Archive {
		return archiveDir
	}
	return conversationsDir
}

// The files of a conversation. Anything else in its directory is carried along.
const (
	MetadataFile   = "metadata.json"
	BaseConfigFile = "base_config.json"
	EventsFile     = "events.json"
	MessagesFile   = "messages.json" // of 2025, instead of the stream
)

// An Entry is one directory of one conversation.
type Entry struct {
	ID        events.ID
	Dirname   string
	Partition Partition
	Local     bool   // it lies in user-local storage, not in the workspace
	Path      string // slash-separated, below the workspace's root or, if Local, user-local storage
	Legacy    bool   // it is a messages.json
}

func (e Entry) compare(other Entry) int {
	return cmp.Or(cmp.Compare(e.ID, other.ID), cmp.Compare(e.Partition, other.Partition),
		cmp.Compare(e.Dirname, other.Dirname))
}

// at returns e moved to another place.
func (e Entry) at(p Partition, dirname, prefix string) Entry {
	e.Partition, e.Dirname = p, dirname
	e.Path = path.Join(prefix, p.Dir(), dirname)
	return e
}

// A ProblemKind says what is wrong with a directory.
type ProblemKind string

// The kinds of problems.
const (
	Foreign    ProblemKind = "foreign"    // a directory whose name begins with no id
	Missing    ProblemKind = "missing"    // files that every conversation has
	Linked     ProblemKind = "linked"     // a symbolic link in the place of a directory or file
	Duplicate  ProblemKind = "duplicate"  // several directories with one id
	Unreadable ProblemKind = "unreadable" // the system refuses
)

// A Problem is something wrong below conversations. jp moves a directory with the
// first two kinds to its trash.
type Problem struct {
	Kind   ProblemKind
	Path   string // as in [Entry]
	ID     events.ID
	Local  bool
	Detail string // which files, which other directory
	Err    error  // of Unreadable
}

// String returns the problem as one line.
func (p Problem) String() string {
	switch p.Kind {
	case Foreign:
		return fmt.Sprintf("%s is no directory of a conversation", p.Path)
	case Missing:
		return fmt.Sprintf("%s has no %s", p.Path, p.Detail)
	case Linked:
		return fmt.Sprintf("%s is a symbolic link", p.Path)
	case Duplicate:
		return fmt.Sprintf("%s has the id of %s", p.Path, p.Detail)
	default:
		return fmt.Sprintf("%s cannot be read: %v", p.Path, p.Err)
	}
}
