package object

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// The sizes of an [ID] in bytes.
const (
	SHA1Size   = 20
	SHA256Size = 32
)

// An ID is the name of an object: a SHA-1 of 20 bytes, or a SHA-256 of 32 in repositories of that
// format. It is comparable, and the zero value names nothing.
type ID struct {
	size uint8
	sum  [SHA256Size]byte
}

var errID = errors.New("expected 40 or 64 hexadecimal digits")

// ParseID parses 40 or 64 hexadecimal digits.
func ParseID(s string) (ID, error) {
	var raw [SHA256Size]byte
	if len(s) == 2*SHA1Size || len(s) == 2*SHA256Size {
		if n, err := hex.Decode(raw[:], []byte(s)); err == nil {
			return IDOf(raw[:n]), nil
		}
	}
	return ID{}, fmt.Errorf("object id %q: %w", s, errID)
}

// ParseIDs parses object ids, each followed by white space.
func ParseIDs(text string) (ids []ID, err error) {
	for word := range strings.FieldsSeq(text) {
		id, err := ParseID(word)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// IDOf returns the ID with these bytes, of which there must be 20 or 32.
func IDOf(raw []byte) ID {
	var id ID
	copy(id.sum[:], raw)
	if id.sum != [SHA256Size]byte{} {
		id.size = uint8(len(raw)) // 20 or 32
	}
	return id
}

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id.size == 0 }

// Size returns the number of its bytes, 0 for the zero value.
func (id ID) Size() int { return int(id.size) }

// String returns the digits in lower case, or 40 zeroes for the zero value.
func (id ID) String() string { return hex.EncodeToString(id.sum[:max(id.size, SHA1Size)]) }

// Compare orders ids by their bytes.
func (id ID) Compare(other ID) int { return bytes.Compare(id.sum[:], other.sum[:]) }

// AppendBytes appends the 20 or 32 bytes of id to b, and nothing for the zero value.
func (id ID) AppendBytes(b []byte) []byte { return append(b, id.sum[:id.size]...) }

// AppendHex appends the digits of id to b, and nothing for the zero value.
func (id ID) AppendHex(b []byte) []byte { return hex.AppendEncode(b, id.sum[:id.size]) }
