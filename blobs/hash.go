package blobs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Dir is the name of the store's directory below .jp.
const Dir = "blobs"

// suffix ends the name of every blob file. It is not ".gz" alone, so that search tools that look
// into compressed files can be told to skip blobs.
const suffix = ".blob.gz"

// A Hash is the SHA-256 of uncompressed content: the identity of a blob. The zero
// Hash belongs to no content.
type Hash [sha256.Size]byte

// Sum returns the hash of b.
func Sum(b []byte) Hash { return sha256.Sum256(b) }

// ParseHash parses 64 lower-case hexadecimal digits. Upper case is rejected, because a blob must
// have the same name on every file system.
func ParseHash[T string | []byte](s T) (Hash, error) {
	h, ok := parseHash(s)
	if !ok {
		return Hash{}, fmt.Errorf("parse blob hash %q: not %d lower-case hexadecimal digits",
			string(s), hex.EncodedLen(len(h)))
	}
	return h, nil
}

func parseHash[T string | []byte](s T) (h Hash, ok bool) {
	if len(s) != hex.EncodedLen(len(h)) {
		return Hash{}, false
	}
	none := byte(0) // has a bit above 0xf once a character is not a digit
	for i := range h {
		high, low := digitOf(s[2*i]), digitOf(s[2*i+1])
		none |= high | low
		h[i] = high<<4 | low
	}
	if none > 0xf {
		return Hash{}, false
	}
	return h, true
}

// digits maps the characters '0' to 'f' to the values of lower-case hexadecimal digits, other
// characters between them to more than 15. A branch for each digit cannot be predicted and takes
// three times as long.
const digits = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09" +
	"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@" + "\x0a\x0b\x0c\x0d\x0e\x0f"

func digitOf(c byte) byte {
	if at := int(c) - '0'; uint(at) < uint(len(digits)) { // below it is much
		return digits[at]
	}
	return digits['@'-'0']
}

// String returns the 64 lower-case hexadecimal digits of h.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns what String returns.
func (h Hash) MarshalText() ([]byte, error) { return h.AppendText(nil) }

// AppendText appends the digits of h to b. The error is always nil.
func (h Hash) AppendText(b []byte) ([]byte, error) { return hex.AppendEncode(b, h[:]), nil }

// UnmarshalText parses what ParseHash parses.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := ParseHash(text)
	if err != nil {
		return err
	}
	*h = parsed
	return nil
}

// IsZero reports whether h is the zero Hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// Compare orders hashes by their digits.
func (h Hash) Compare(other Hash) int { return bytes.Compare(h[:], other[:]) }

// Path returns the slash-separated path of h's file below the store's directory:
// two digits, two digits, the other sixty and the suffix.
func (h Hash) Path() string {
	return string(h.appendPath(make([]byte, 0, pathLen)))
}

// pathLen is the length of every blob's path below the store.
const pathLen = 2*sha256.Size + 2 + len(suffix)

func (h Hash) appendPath(b []byte) []byte {
	b = append(hex.AppendEncode(b, h[:1]), '/')
	b = append(hex.AppendEncode(b, h[1:2]), '/')
	return append(hex.AppendEncode(b, h[2:]), suffix...)
}

// ParsePath is the inverse of [Hash.Path]; ok is false for any other path.
func ParsePath(name string) (h Hash, ok bool) {
	name, ok = strings.CutSuffix(name, suffix)
	if !ok || len(name) != pathLen-len(suffix) || name[2] != '/' || name[5] != '/' {
		return Hash{}, false
	}
	var digits [2 * len(h)]byte
	copy(digits[:], name[:2])
	copy(digits[2:], name[3:5])
	copy(digits[4:], name[6:])
	return parseHash(digits[:])
}
