package sessions

import (
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

// Revision is what an import depends on beside the source. It changes when the same source would
// give other bytes.
const Revision = 2

// A Session is a session where an agent keeps it, as far as a glance at it tells.
type Session struct {
	Name    Name
	Path    string    // of the file that has it: a transcript, or a database with many
	Dir     string    // where the agent was started, as it recorded it; "" when unknown
	Parent  Name      // that started this one as a sub-agent; zero for a person's own
	Title   string    // or [Opening]; "" when a glance does not tell. It may have secrets
	Size    int64     // bytes of the source, about
	Length  int64     // what the length of its [Version] is now, where a glance tells; else 0
	Changed time.Time // when it grew last
	Export  *Export   // that it began as; nil where it began with the agent
}

// Places is where agents keep their sessions on this machine.
type Places struct {
	Home   string
	Getenv func(string) string
}

// Absolute returns an error where a place of an agent is relative: a working directory is nobody's
// home, and what lies there may be a stranger's.
func Absolute(place string) error {
	if filepath.IsAbs(place) {
		return nil
	}
	return fmt.Errorf("%s is not absolute: %w", place, errNoHome)
}

var errNoHome = errors.New("HOME is empty or relative")

// A Dialect reads the sessions of one agent. It only reads, and never waits for the agent.
type Dialect interface {
	Agent() Agent
	// Find yields the sessions that the agent keeps. An error does not end the sequence.
	Find(ctx context.Context, p Places) iter.Seq2[Session, error]
	// Recognize reports whether a file whose first bytes are head is one of the agent's: by what
	// it says, never by its name.
	Recognize(head []byte) bool
	// List returns the sessions that are in a file.
	List(ctx context.Context, path string) ([]Session, error)
	// Read tells b what a session says. It reads no more of an append-only file than until (all
	// when until is 0), and returns what it read.
	Read(ctx context.Context, s Session, until int64, b *Builder) (Version, error)
	// Appends reports whether the source only grows, so that what was imported can be read again.
	Appends(s Session) bool
}

// A Version says how much of a source is in a conversation: in bytes of an append-only source, of
// a fold by a number that grows with it. Its hash are the first 16 hex digits of the SHA-256 of
// that much of it.
type Version = events.ImportVersion

const hashDigits = 16

// VersionOf returns the version of a source of so many bytes with a digest.
func VersionOf(length int64, sum [sha256.Size]byte) Version {
	return Version{
		Revision: Revision, Length: length, Hash: hex.EncodeToString(sum[:])[:hashDigits],
	}
}

// A Conversation is what a session became.
type Conversation struct {
	Name       Name
	Parent     Name // the session that started it or of which it is what was rewound
	Stream     *events.Stream
	Details    *events.Details
	BaseConfig []byte
	// Exported is how many of the first elements are those of the export with which the session
	// began, 0 where not all of them are here.
	Exported int
	// Archived says that it is nobody's own talk: a sub-agent, or what was rewound.
	Archived bool
	Report   Report
}

// Version returns how much of the source is in.
func (c *Conversation) Version() Version {
	v, _ := events.ParseImportVersion(c.Details.Labels[LabelImport]) // [Builder.Finish] wrote it
	return v
}

// A Report counts what an import made of the records of a source.
type Report struct {
	Prompts, Answers, Calls, Results int
	// Input and Output are tokens as the agent recorded them, caches counted as input.
	Input, Output int64
	Records       map[string]int   // kept without a counterpart, by kind
	Dropped       map[string]int64 // bytes that only repeat, by kind
	Paths         int              // prefixes of paths that were replaced
	Redacted      map[string]int   // secrets, by rule
	Outside       map[string]int   // records of directories outside of the root, by directory
	Broken        []BrokenLine
}

// A BrokenLine is a line that could not be read. The others are imported.
type BrokenLine struct {
	Number int // from 1
	Err    error
}

// maxBroken is how many broken lines are told one by one.
const maxBroken = 100
