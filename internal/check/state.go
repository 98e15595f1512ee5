package check

import (
	"fmt"
	"slices"
)

// A State says what a finding is about. The texts are part of the JSON format.
type State string

// The states. A reference without a finding is ok.
const (
	// Missing: the tree has no regular file at the blob's path, or git has not the
	// file's object.
	Missing State = "missing"
	// Corrupt: there is a file, and its content is not what the hash says.
	Corrupt State = "corrupt"
	// SizeMismatch: the content is sound, and the reference states another size.
	SizeMismatch State = "size-mismatch"
	// LFSPointer: a Git LFS pointer stands for the content, which was not fetched.
	LFSPointer State = "lfs-pointer"
	// Unchecked: what would have to be looked at is not here to look at.
	Unchecked State = "unchecked"
	// Malformed: a file of a conversation cannot be loaded.
	Malformed State = "malformed"
	// Unreadable: a file of a conversation cannot be read at all.
	Unreadable State = "unreadable"
	// DuplicateID: two directories have the same conversation id.
	DuplicateID State = "duplicate-id"
	// Foreign: something lies where only conversations or only blobs may lie.
	Foreign State = "foreign"
	// Oversize: a reference to more than the limit, which nobody will read.
	Oversize State = "oversize"
	// Incomplete: tool calls of the last turn have no response.
	Incomplete State = "incomplete"
	// Conflicted: a file is unmerged in the index.
	Conflicted State = "conflicted"
	// TextMerged: a merge put the lines of its sides together without a driver. Only callers
	// add it.
	TextMerged State = "blended"
	// Lost: a merge left out what one of its sides has and none removed. Only callers add it.
	Lost State = "lost"
	// Secret: a text has what looks like a key, a password or a token. Only callers add it.
	Secret State = "secret"
	// Unredacted: a text has what was redacted from it. Only callers add it.
	Unredacted State = "unredacted"
	// Allowed: a finding of a secret is committed as allowed. Only callers add it.
	Allowed State = "allowed"
	// Drift: the clone is not set up as its attributes demand. Only callers add it.
	Drift State = "drift"
)

// A Severity orders findings.
type Severity int

// The severities. A note never fails a check, a warning does where it is strict.
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

// Severity returns how bad findings of the state are.
func (s State) Severity() Severity {
	switch s {
	case Unchecked, Allowed:
		return Note
	case Foreign, Incomplete, Drift:
		return Warning
	default:
		return Error
	}
}

// states are all states, with what each means in a few words.
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
		{Conflicted, "A file is unmerged"},
		{TextMerged, "A merge put the lines of its sides together without a driver"},
		{Lost, "A merge left out what one of its sides has"},
		{Secret, "A text has what looks like a secret"},
		{Unredacted, "A text has what was redacted from it"},
		{Allowed, "A finding of a secret is allowed"},
		{Drift, "The clone is not set up as its attributes demand"},
	}
}
