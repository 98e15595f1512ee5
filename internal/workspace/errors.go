package workspace

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// ErrNoWorkspace reports that no directory upwards has a .jp.
var ErrNoWorkspace = errors.New("no workspace")

// ErrLegacy reports a conversation in a messages.json of 2025, which is read and never written.
var ErrLegacy = errors.New("the conversation is a messages.json, which is never rewritten")

// ErrNoUserData reports that a user-local conversation has no place: there is no user data
// directory.
var ErrNoUserData = errors.New("no user data directory: set HOME or JP_USER_DATA_DIR")

var errNoID = errors.New("the workspace has no id for user-local conversations")

// ErrLinked reports a symbolic link in place of the conversations.
var ErrLinked = errors.New("it is a symbolic link, and links are not followed")

// A LockedError reports that another process holds the lock of a conversation.
type LockedError struct {
	ID      events.ID
	PID     int       // 0 if unknown
	Session string    // "" if unknown
	Since   time.Time // zero if unknown
}

// Error names the conversation and its holder.
func (e *LockedError) Error() string {
	text := fmt.Sprintf("conversation %s is locked", e.ID)
	if e.PID != 0 {
		text += fmt.Sprintf(" by process %d", e.PID)
	}
	if !e.Since.IsZero() {
		text += " since " + e.Since.Local().Format(time.DateTime)
	}
	return text
}

// A NotFoundError reports that no conversation matches a name.
type NotFoundError struct {
	Arg string
	// Dir is a directory that matches, whose Files are not those of a conversation. It is empty if
	// there is none.
	Dir   string
	Files []string
}

// Error quotes the name.
func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("no conversation %q", e.Arg)
	switch {
	case e.Arg == ".":
		return "no active conversation in this session"
	case e.Arg == "-":
		return "no previous conversation in this session"
	case len(e.Files) > maxNamed:
		return fmt.Sprintf("%s: %s has only %d other files", text, e.Dir, len(e.Files))
	case e.Dir != "":
		return fmt.Sprintf("%s: %s has only %s", text, e.Dir, strings.Join(e.Files, ", "))
	default:
		return text
	}
}

// maxNamed limits how many files an error names.
const maxNamed = 3

// A Candidate is a conversation that matches a name.
type Candidate struct {
	Entry Entry
	Title string
}

// An AmbiguousError reports that several conversations match a name.
type AmbiguousError struct {
	Arg        string
	Candidates []Candidate
}

// Error quotes the name and counts the conversations.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is the name of %d conversations", e.Arg, len(e.Candidates))
}

// A DuplicateError reports that several directories have the id of a conversation to be moved or
// removed.
type DuplicateError struct {
	ID    events.ID
	Paths []string
}

// Error names the directories.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("conversation %s has %d directories: %s",
		e.ID, len(e.Paths), strings.Join(e.Paths, ", "))
}

// A DanglingError reports that a save would add, or added, references to contents that are not in
// the blob store.
type DanglingError struct {
	Path string // of the stream
	Refs []blobs.Ref
}

// Error names the first missing content.
func (e *DanglingError) Error() string {
	text := fmt.Sprintf("%s refers to content that is missing: %s", e.Path, e.Refs[0])
	if n := len(e.Refs) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
