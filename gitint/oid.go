package gitint

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	sha1Size   = 20
	sha256Size = 32
)

// An OID is the name of an object: a SHA-1 of 20 bytes, or a SHA-256 of 32 in
// repositories of that format. It is comparable, and the zero value names nothing.
type OID struct {
	size uint8
	sum  [sha256Size]byte
}

var errOID = errors.New("want 40 or 64 hexadecimal digits")

// ParseOID parses 40 or 64 hexadecimal digits.
func ParseOID(s string) (OID, error) {
	if id, ok := parseHex([]byte(s)); ok {
		return id, nil
	}
	return OID{}, fmt.Errorf("object id %q: %w", s, errOID)
}

// parseOIDs parses object ids, each followed by white space.
func parseOIDs(text []byte) (ids []OID, err error) {
	for word := range strings.FieldsSeq(string(text)) {
		id, err := ParseOID(word)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func parseHex(digits []byte) (id OID, ok bool) {
	var raw [sha256Size]byte
	if len(digits) != 2*sha1Size && len(digits) != 2*sha256Size {
		return OID{}, false
	}
	n, err := hex.Decode(raw[:], digits)
	return oidOf(raw[:n]), err == nil
}

// OIDOf returns the OID with these 20 or 32 bytes; ok is false for any other length.
func OIDOf(raw []byte) (id OID, ok bool) {
	if len(raw) != sha1Size && len(raw) != sha256Size {
		return OID{}, false
	}
	return oidOf(raw), true
}

// oidOf returns the OID with these 20 or 32 bytes. All zeroes, which mean no object in git, are the
// zero value.
func oidOf(raw []byte) OID {
	var id OID
	copy(id.sum[:], raw)
	if id.sum != [sha256Size]byte{} {
		id.size = uint8(len(raw)) //nolint:gosec // 20 or 32
	}
	return id
}

// IsZero reports whether id names nothing.
func (id OID) IsZero() bool { return id.size == 0 }

// String returns the digits in lower case, or 40 zeroes for the zero value.
func (id OID) String() string { return hex.EncodeToString(id.bytes()) }

// MarshalText is String.
func (id OID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText is ParseOID.
func (id *OID) UnmarshalText(text []byte) error {
	parsed, ok := parseHex(text)
	if !ok {
		return fmt.Errorf("object id %q: %w", text, errOID)
	}
	*id = parsed
	return nil
}

// compare orders ids by their bytes.
func (id OID) compare(other OID) int { return bytes.Compare(id.sum[:], other.sum[:]) }

// AppendBytes appends the 20 or 32 bytes of id to b, and nothing for the zero value.
func (id OID) AppendBytes(b []byte) []byte { return append(b, id.sum[:id.size]...) }

func (id OID) bytes() []byte {
	if id.size == 0 {
		return id.sum[:sha1Size]
	}
	return id.sum[:id.size]
}
