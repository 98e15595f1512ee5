package check

import (
	"fmt"
	"slices"
)

// A State is the kind of a finding. The texts are part of the JSON format.
type State string

// The states. A reference without a finding is ok.
const (
	// Missing: the tree has no regular file at the blob's path, or git does not have the file's
	// object.
	Missing State = "missing"
	// Corrupt: there is a file, and its content does not match the hash.
	Corrupt State = "corrupt"
	// SizeMismatch: the content is intact, and the reference states another size.
	SizeMismatch State = "size-mismatch"
	// LFSPointer: there is a Git LFS pointer instead of the content, which was not fetched.
	LFSPointer State = "lfs-pointer"
	// Unchecked: the content or history to check is not available here.
	Unchecked State = "unchecked"
	// Malformed: a file of a conversation cannot be loaded.
	Malformed State = "malformed"
	// Unreadable: a file of a conversation cannot be read at all.
	Unreadable State = "unreadable"
	// DuplicateID: two directories have the same conversation id.
	DuplicateID State = "duplicate-id"
	// Foreign: a place for only conversations or only blobs has another file.
	Foreign State = "foreign"
	// Oversize: a reference to content beyond the limit, which will not be read.
	Oversize State = "oversize"
	// Incomplete: tool calls of the last turn have no response.
	Incomplete State = "incomplete"
	// Dropped: a request lacks the attachments that it had.
	Dropped State = "dropped"
	// Conflicted: a file is unmerged in the index.
	Conflicted State = "conflicted"
	// TextMerged: a merge interleaved the lines of its sides without a driver. Only callers add it.
	TextMerged State = "blended"
	// Lost: a merge lacks elements that one of its sides has and no side removed. Only callers add
	// it.
	Lost State = "lost"
	// Secret: a text has something like a key, a password or a token. Only callers add it.
	Secret State = "secret"
	// Unredacted: a text has something that was redacted from it. Only callers add it.
	Unredacted State = "unredacted"
	// Allowed: a finding of a secret is allowed by a committed file. Only callers add it.
	Allowed State = "allowed"
	// Drift: the clone is not set up as its attributes require. Only callers add it.
	Drift State = "drift"
)

// A Severity orders findings.
type Severity int

// The severities. A note never fails a check, and a warning fails a strict one.
const (
	None Severity = iota
	Note
	Warning
	Error
)

// severities are the texts of the severities, which are part of the JSON format.
func severities() []string { return []string{"none", "note", "warning", "error"} }

// String returns the severity's text.
func (s Severity) String() string {
	if texts := severities(); s >= 0 && int(s) < len(texts) {
		return texts[s]
	}
	return fmt.Sprintf("severity(%d)", int(s))
}

// MarshalText returns the severity's text.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severities(), string(text))
	if i < 0 {
		return fmt.Errorf("severity %q: not one of %q", text, severities())
	}
	*s = Severity(i)
	return nil
}

// Severity returns the severity of findings with the state.
func (s State) Severity() Severity {
	switch s {
	case Unchecked, Allowed:
		return Note
	case Foreign, Incomplete, Dropped, Drift:
		return Warning
	default:
		return Error
	}
}

// states returns all states with a short description.
func states() []struct {
	State State
	Text  string
} {
	return []struct {
		State State
		Text  string
	}{
		{Missing, "A conversation refers to content that is not in the tree"},
		{Corrupt, "The content of a blob is not what its hash says"},
		{SizeMismatch, "A reference states another size than its content has"},
		{LFSPointer, "Content was not fetched from Git LFS"},
		{Unchecked, "Something is not here to be checked"},
		{Malformed, "A file of a conversation cannot be loaded"},
		{Unreadable, "A file of a conversation cannot be read"},
		{DuplicateID, "Two directories have the same conversation id"},
		{Foreign, "Something lies where only conversations or blobs may lie"},
		{Oversize, "A reference is larger than the limit"},
		{Incomplete, "The last turn has tool calls without a response"},
		{Dropped, "A request lacks the attachments that it had"},
		{Conflicted, "A file is unmerged"},
		{TextMerged, "A merge put the lines of its sides together without a driver"},
		{Lost, "A merge left out what one of its sides has"},
		{Secret, "A text has what looks like a secret"},
		{Unredacted, "A text has what was redacted from it"},
		{Allowed, "A finding of a secret is allowed"},
		{Drift, "The clone is not set up as its attributes demand"},
	}
}
