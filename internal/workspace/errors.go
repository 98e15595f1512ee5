package workspace

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// ErrNoWorkspace says that no directory on the way up holds a .jp.
var ErrNoWorkspace = errors.New("no workspace")

// ErrLegacy says that a conversation is a messages.json of 2025, which is read and
// never written.
var ErrLegacy = errors.New("the conversation is a messages.json, which is never rewritten")

// ErrNoUserData says that a user-local conversation was asked for and there is no
// place for it: no user data directory, or a workspace without an id.
var ErrNoUserData = errors.New("no place for user-local conversations")

// ErrLinked says that a symbolic link is in the place of the conversations.
var ErrLinked = errors.New("it is a symbolic link, and links are not followed")

// A LockedError says that somebody else holds a conversation.
type LockedError struct {
	ID      events.ID
	Path    string    // of the lock file
	PID     int       // 0 when the file does not say
	Session string    // "" when the file does not say
	Since   time.Time // zero when the file does not say
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

// A NotFoundError says that no conversation answers to a name.
type NotFoundError struct {
	Arg string
}

// Error quotes the name.
func (e *NotFoundError) Error() string {
	switch e.Arg {
	case ".":
		return "no active conversation in this session"
	case "-":
		return "no previous conversation in this session"
	default:
		return fmt.Sprintf("no conversation %q", e.Arg)
	}
}

// A Candidate is one conversation that a name may mean.
type Candidate struct {
	Entry Entry
	Title string
}

// An AmbiguousError says that several conversations answer to a name.
type AmbiguousError struct {
	Arg        string
	Candidates []Candidate
}

// Error quotes the name and counts the conversations.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is the name of %d conversations", e.Arg, len(e.Candidates))
}

// A DuplicateError says that several directories hold the id of a conversation that
// was to be moved or removed.
type DuplicateError struct {
	ID    events.ID
	Paths []string
}

// Error names the directories.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("conversation %s has %d directories: %s",
		e.ID, len(e.Paths), strings.Join(e.Paths, ", "))
}

// A DanglingError says that a save would refer, or refers, to contents that are not
// in the blob store and were not referred to before.
type DanglingError struct {
	Path string // of the stream
	Refs []blobs.Ref
}

// Error names the first of the contents.
func (e *DanglingError) Error() string {
	text := fmt.Sprintf("%s refers to content that is missing: %s", e.Path, e.Refs[0])
	if n := len(e.Refs) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
