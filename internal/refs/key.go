package refs

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// An ObjectID names the bytes of a file: the id of a git object in lower-case
// hex, or a [Sum].
type ObjectID string

// Sum returns the id of bytes that are not in a repository, such as a file of the
// working tree: their git object id in a SHA-256 repository. In a SHA-1 repository it is
// an id that no object has.
func Sum(data []byte) ObjectID {
	h := sha256.New()
	h.Write([]byte("blob " + strconv.Itoa(len(data)) + "\x00"))
	h.Write(data)
	return ObjectID(hex.EncodeToString(h.Sum(nil)))
}

// kind says what a record tells about the object it names.
type kind byte

const (
	kindReferences kind = 'r'
	kindVerdict    kind = 'v'
	kindDetails    kind = 'd'
	kindJSON       kind = 'j'
	kindBlobs      kind = 'b'
	kindTrees      kind = 'e'
	kindPointer    kind = 'p'
	kindPlain      kind = 'n'
	kindMentions   kind = 'm'
	kindText       kind = 't'
	kindStreams    kind = 's'
	kindPlaces     kind = 'a' // 'w' to 'z' said less
	kindComplete   kind = 'c'
	kindSettled    kind = 'h'
	kindSound      kind = 'o'
)

// A key names a record. It is an array so that an index of many costs one
// allocation.
type key struct {
	kind kind
	size uint8
	id   [sha256.Size]byte
}

// keyOf returns the key of id; ok is false when id is not the id of an object, and
// then nothing is remembered under it.
func keyOf(k kind, id ObjectID) (_ key, ok bool) {
	n := hex.DecodedLen(len(id))
	if n < 20 || n > sha256.Size {
		return key{}, false
	}
	var buf [2 * sha256.Size]byte
	out := key{kind: k, size: uint8(n)}
	if _, err := hex.Decode(out.id[:], buf[:copy(buf[:], id)]); err != nil {
		return key{}, false
	}
	return out, true
}

// shard returns the number of the file that holds the record.
func (k key) shard() int { return int(k.id[0] >> 4) }
