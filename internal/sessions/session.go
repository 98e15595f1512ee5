package sessions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"github.com/git-jp/git-jp/events"
)

// Revision is the version of the import rules. It changes when the same source would give other
// bytes.
const Revision = 8

// A Session describes a stored session of an agent, as far as its first lines show.
type Session struct {
	Name    Name
	Path    string    // of its file: a transcript, or a database with many sessions
	Dir     string    // where the agent was started, as recorded; "" if unknown
	DirSum  string    // the SHA-256 of Dir in hex, if the agent recorded only that
	Parent  Name      // the session that started this one as a sub-agent; zero if none
	Title   string    // or first words; "" if not in the first lines
	Size    int64     // bytes of the source, approximately
	Length  int64     // of its current [Version], if known without reading it; else 0
	Changed time.Time // when it last grew
	Export  *Export   // its first lines; nil unless it was exported from a conversation
}

// Places locates the sessions of agents on this machine.
type Places struct {
	Home   string
	Getenv func(string) string
}

// Dir returns the directory that a variable names, else one below the user's home.
func (p Places) Dir(variable string, below ...string) string {
	return cmp.Or(p.Getenv(variable), filepath.Join(append([]string{p.Home}, below...)...))
}

// Absolute returns an error for a relative directory of an agent: it would depend on the working
// directory, whose files may be a stranger's.
func Absolute(place string) error {
	if filepath.IsAbs(place) {
		return nil
	}
	return fmt.Errorf("%s is not absolute: %w", place, errNoHome)
}

var errNoHome = errors.New("HOME, or the agent's own variable, is empty or relative")

// A Dialect reads the sessions of one agent. It only reads, and never waits for the agent.
type Dialect interface {
	Agent() Agent
	// Find yields the sessions that the agent has stored. An error does not end the sequence.
	Find(ctx context.Context, p Places) iter.Seq2[Session, error]
	// Recognize reports whether a file whose first bytes are head is a session of the agent. It
	// ignores the name of the file.
	Recognize(head []byte) bool
	// List returns the sessions in a file.
	List(ctx context.Context, path string) ([]Session, error)
	// Read passes a session to b. It reads no more of an append-only file than until (all if until
	// is 0), and returns the version that it read.
	Read(ctx context.Context, s Session, until int64, b *Builder) (Version, error)
	// Appends reports whether the source only grows, so that the imported part can be read again.
	Appends(s Session) bool
}

// A Version identifies how much of a source was imported: the length is the size of an append-only
// source, or another number that grows with the source. The hash is the first 16 hex digits of the
// SHA-256 of that part.
type Version = events.ImportVersion

const hashDigits = 16

// VersionOf returns the version of a source with a length and a digest.
func VersionOf(length int64, sum [sha256.Size]byte) Version {
	return Version{
		Revision: Revision, Length: length, Hash: hex.EncodeToString(sum[:])[:hashDigits],
	}
}

// A Conversation is the result of importing a session.
type Conversation struct {
	Name       Name
	Parent     Name // the session that started it, or from which it was rewound
	Stream     *events.Stream
	Details    *events.Details
	BaseConfig []byte
	// Exported counts the first elements that are from the export with which the session began, 0
	// if not all of them are here.
	Exported int
	// Archived is true for a sub-agent or a rewound fork.
	Archived bool
	Report   Report
}

// Version returns how much of the source was imported.
func (c *Conversation) Version() Version {
	v, _ := events.ParseImportVersion(c.Details.Labels[LabelImport]) // [Builder.Finish] wrote it
	return v
}

// A Report counts the records of a source by what the import did with them.
type Report struct {
	Prompts, Answers, Calls, Results int
	// Input and Output are tokens as the agent recorded them, caches counted as input.
	Input, Output int64
	Records       map[string]int   // kept without a counterpart, by kind
	Dropped       map[string]int64 // bytes of repetitions, by kind
	Redacted      map[string]int   // secrets, by rule
	Outside       map[string]int   // records of directories outside of the root, by directory
	Broken        []BrokenLine
}

// A BrokenLine is a line that could not be read. The other lines are imported.
type BrokenLine struct {
	Number int // from 1
	Err    error
}

// maxBroken limits how many broken lines are reported one by one.
const maxBroken = 100
