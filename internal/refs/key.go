package refs

import (
	"crypto/sha256"
	"strconv"

	"github.com/git-jp/git-jp/gitint"
)

// Sum returns an id for bytes that are not in a repository, such as a file of the working tree:
// their git object id in a SHA-256 repository. In a SHA-1 repository no object has this id.
func Sum(data []byte) gitint.OID {
	h := sha256.New()
	h.Write([]byte("blob " + strconv.Itoa(len(data)) + "\x00"))
	h.Write(data)
	id, _ := gitint.OIDOf(h.Sum(nil))
	return id
}

// kind is the kind of answer that a record holds.
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
	kindPlaces     kind = 'a' // older formats were 'w' to 'z'
	kindComplete   kind = 'c'
	kindSettled    kind = 'h'
	kindSound      kind = 'o'
)

// A key identifies a record. It is an array so that a large index costs one allocation.
type key struct {
	kind kind
	size uint8
	id   [sha256.Size]byte
}

// keyOf returns the key for id. ok is false if id is zero, and then nothing is remembered.
func keyOf(k kind, id gitint.OID) (_ key, ok bool) {
	out := key{kind: k}
	out.size = uint8(len(id.AppendBytes(out.id[:0]))) // at most 32
	return out, out.size > 0
}

// shard returns the number of the file that holds the record.
func (k key) shard() int { return int(k.id[0] >> 4) }
