package events

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An ID names a conversation: the instant of its creation in tenths of a second
// since the Unix epoch, in UTC.
type ID int64

const (
	idPrefix    = "jp-c"
	idPerSecond = 10
	idStep      = int64(time.Second / idPerSecond)
)

// IDAt returns the ID of a conversation created at t, truncated to a tenth of a
// second. Whether another conversation has it already only the caller can know.
func IDAt(t time.Time) ID {
	// Unix and Nanosecond both round down, also before 1970, so this does too.
	return ID(t.Unix()*idPerSecond + int64(t.Nanosecond())/idStep)
}

// firstClock is 2000-01-01 as an ID. No clock gives an earlier one any more.
const firstClock = 9_466_848_000

// deriveID returns an ID made of a hash, for a conversation that everybody who makes it gives the
// same: it is before any that a clock gives.
func deriveID(hash uint64) ID { return ID(1 + hash%(firstClock-1)) }

// IsDerived reports whether an ID was made by [SessionIDs] and not by a clock.
func (id ID) IsDerived() bool { return 0 < id && id < firstClock }

// ParseID reads an ID as people write it: "jp-c17800836875", the same followed
// by a workspace as in "jp-c17800836875-otvo8", or the digits alone.
func ParseID(s string) (ID, error) {
	digits, prefixed := strings.CutPrefix(s, idPrefix)
	if prefixed {
		head, workspace, suffixed := strings.Cut(digits, "-")
		if suffixed && !isWorkspaceID(workspace) {
			return 0, fmt.Errorf("parse conversation id %q: malformed workspace id", s)
		}
		digits = head
	}
	if !isDigits(digits) {
		return 0, fmt.Errorf("parse conversation id %q: not a number", s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse conversation id %q: number out of range", s)
	}
	return ID(n), nil
}

// ParseDirname returns the ID that the name of a conversation's directory
// begins with. It reads what jp reads, which is more than [Dirname] writes: the
// text before the first dash may have leading zeros or a plus sign. The zero ID names nothing.
func ParseDirname(name string) (ID, bool) {
	digits, _, _ := strings.Cut(name, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 {
		return 0, false
	}
	return ID(n), true
}

// String returns the form that is shown to people: "jp-c17800836875".
func (id ID) String() string { return idPrefix + id.Digits() }

// Digits returns the bare number, as directory names begin with it.
func (id ID) Digits() string { return strconv.FormatInt(int64(id), 10) }

// Time returns the instant that id stands for, in UTC.
func (id ID) Time() time.Time {
	return time.Unix(int64(id)/idPerSecond, int64(id)%idPerSecond*idStep).UTC()
}

// MarshalText implements [encoding.TextMarshaler] with the form of [ID.String].
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]; it reads what [ParseID]
// reads.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := ParseID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// isDigits keeps out the signs that strconv would take.
func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isWorkspaceID reports whether s could be a workspace's id. jp checks the
// alphabet and no more.
func isWorkspaceID(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
