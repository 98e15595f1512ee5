package gc

import (
	"fmt"
	"slices"
	"strings"
)

// The reasons of an Obstacle, in addition to those of gitint.Incomplete.
const (
	ReasonStream = "stream" // a file that should be a stream is invalid
	ReasonLarge  = "large"  // a stream is too large to be read
	ReasonOpaque = "opaque" // a stream is in Git LFS or encrypted
	ReasonObject = "object" // an object is missing or damaged
	ReasonLinked = "linked" // a symbolic link is in place of conversations or blobs
	// ReasonIrregular: neither a file nor a directory is in place of a stream or a conversation.
	ReasonIrregular = "irregular"
	ReasonForeign   = "foreign" // the store has files that this version does not know
	ReasonFiles     = "files"   // the system refuses to read something
	ReasonMissing   = "missing" // the content of a reference is already missing
	ReasonLocked    = "locked"  // git writes an index, or a killed git has left its lock
	ReasonNested    = "nested"  // another repository, or what may be one, is within the workspace
	ReasonID        = "id"      // the workspace has no id
	ReasonOpinion   = "opinion" // the second opinion failed
	ReasonDoubt     = "doubt"   // the second opinion contradicts the mark in more than a rare case

	// ReasonPromised: objects that must be read are only at the remote of a partial clone.
	ReasonPromised = "promised"
)

// An Obstacle prevents the collector from knowing what is needed.
type Obstacle struct {
	// Reason is one of the reasons, or that of a gitint.Incomplete.
	Reason string
	// Root names the root: a ref, a working tree, an index.
	Root string
	// Path is the file, from the root of the tree; "" for the root as a whole.
	Path   string
	Detail string
}

// String returns the obstacle in one line.
func (o Obstacle) String() string {
	var b strings.Builder
	b.WriteString(o.Root)
	if o.Path != "" {
		if b.Len() > 0 {
			b.WriteByte(':')
		}
		b.WriteString(o.Path)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	return b.String() + o.Detail
}

// A RefusedError has the reasons why nothing may be deleted.
type RefusedError struct {
	Obstacles []Obstacle // at least one
}

// Error names the first obstacle and counts the others.
func (e *RefusedError) Error() string {
	text := "nothing is deleted: " + e.Obstacles[0].String()
	if n := len(e.Obstacles) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// Has reports whether one of the obstacles has the reason.
func (e *RefusedError) Has(reason string) bool {
	return slices.ContainsFunc(e.Obstacles, func(o Obstacle) bool { return o.Reason == reason })
}

// A BusyError reports that another collection is running.
type BusyError struct {
	Path string // of the lock
}

// Error names the lock.
func (e *BusyError) Error() string {
	return "another collection is running: " + e.Path + " is held"
}
