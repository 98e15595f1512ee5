package events

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An ID names a conversation by the time of its creation, in tenths of a second since the Unix
// epoch, in UTC.
type ID int64

const (
	idPrefix    = "jp-c"
	idPerSecond = 10
	idStep      = int64(time.Second / idPerSecond)
)

// IDAt returns the ID of a conversation created at t, truncated to a tenth of a second. The caller
// checks whether another conversation has it already. Before 2000, which only a clock says that was
// not set, it is the first ID of a clock: the smaller ones are those of sessions.
func IDAt(t time.Time) ID {
	return max(firstClock, ID(t.Unix()*idPerSecond+int64(t.Nanosecond())/idStep))
}

// firstClock is 2000-01-01 as an ID. Smaller IDs cannot come from a clock.
const firstClock = 9_466_848_000

// deriveID returns an ID computed from a hash, so that everyone who imports the same agent session
// gives it the same ID. It is smaller than any that a clock gives.
func deriveID(hash uint64) ID { return ID(1 + hash%(firstClock-1)) }

// IsDerived reports whether the ID was made by [SessionIDs] and not from a clock.
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

// ParseDirname returns the ID at the beginning of a conversation's directory name. It reads what jp
// reads, which is more than [Dirname] writes: the text before the first dash may have leading zeros
// or a plus sign. Zero is not a valid ID.
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

// Digits returns the decimal number that directory names begin with.
func (id ID) Digits() string { return strconv.FormatInt(int64(id), 10) }

// Time returns the creation time that id encodes, in UTC.
func (id ID) Time() time.Time {
	return time.Unix(int64(id)/idPerSecond, int64(id)%idPerSecond*idStep).UTC()
}

// MarshalText implements [encoding.TextMarshaler] with the form of [ID.String].
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It accepts what [ParseID] accepts.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := ParseID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// isDigits reports whether s is all digits; strconv alone would accept a sign.
func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isWorkspaceID reports whether s could be a workspace's id. Like jp it checks only the alphabet.
func isWorkspaceID(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
