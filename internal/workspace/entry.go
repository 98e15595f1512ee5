package workspace

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
)

// A Partition is live or archive, the two places for conversations.
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
	// ConversationsDir is the directory of the conversations, below .jp.
	ConversationsDir = "conversations"
	archiveDir       = ConversationsDir + "/.archive"
	tempDir          = "blobs/.tmp"
)

// Dir returns the directory of the partition below .jp or user-local storage.
func (p Partition) Dir() string {
	if p == Archive {
		return archiveDir
	}
	return ConversationsDir
}

// The files of a conversation. Other files in its directory are kept.
const (
	MetadataFile   = "metadata.json"
	BaseConfigFile = "base_config.json"
	EventsFile     = "events.json"
	MessagesFile   = "messages.json" // of 2025, instead of the stream
	// DraftFile has a question that is being written.
	DraftFile = "QUERY_MESSAGE.md"
)

// Files returns the names of the files that every conversation has.
func Files() []string { return []string{MetadataFile, BaseConfigFile, EventsFile} }

// IsManaged reports whether a file in the directory of a conversation is one of the above.
func IsManaged(name string) bool { return name == MessagesFile || slices.Contains(Files(), name) }

// An Entry is one directory of one conversation.
type Entry struct {
	ID        events.ID
	Dirname   string
	Partition Partition
	Local     bool   // in user-local storage, not in the workspace
	Path      string // slash-separated, below the workspace's root or, if Local, user-local storage
	Legacy    bool   // the stream is a messages.json
}

func (e Entry) compare(other Entry) int {
	return cmp.Or(cmp.Compare(e.ID, other.ID), cmp.Compare(e.Partition, other.Partition),
		cmp.Compare(e.Dirname, other.Dirname))
}

// at returns e in another place.
func (e Entry) at(p Partition, dirname, prefix string) Entry {
	e.Partition, e.Dirname = p, dirname
	e.Path = path.Join(prefix, p.Dir(), dirname)
	return e
}

// A ProblemKind classifies problems of a directory.
type ProblemKind string

// The kinds of problems.
const (
	Foreign    ProblemKind = "foreign"    // a directory whose name does not begin with an id
	Missing    ProblemKind = "missing"    // files that every conversation has
	Linked     ProblemKind = "linked"     // a symbolic link in place of a directory or file
	Duplicate  ProblemKind = "duplicate"  // several directories with one id
	Unreadable ProblemKind = "unreadable" // the system reports an error
)

// A Problem is a fault of something below conversations. jp moves a directory with one of the first
// two kinds to its trash.
type Problem struct {
	Kind   ProblemKind
	Path   string // as in [Entry]
	ID     events.ID
	Local  bool
	Detail string // the files, or the other directory
	Err    error  // of Unreadable
	// Files are in a directory that has the name of a conversation and is none.
	Files []string
}

// String returns the problem as one line.
func (p Problem) String() string {
	switch p.Kind {
	case Foreign:
		return fmt.Sprintf("%s is not a conversation directory", p.Path)
	case Missing:
		return fmt.Sprintf("%s has no %s", p.Path, p.Detail)
	case Linked:
		return fmt.Sprintf("%s is a symbolic link", p.Path)
	case Duplicate:
		return fmt.Sprintf("%s has the id of %s", p.Path, p.Detail)
	default:
		return fmt.Sprintf("%s cannot be read: %v", p.Path, regular.Cause(p.Err))
	}
}
