package refs

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
)

// idBytes draws the bytes of an object id, or none.
func idBytes(t *rapid.T) []byte {
	n := rapid.SampledFrom([]int{0, 20, sha256.Size}).Draw(t, "size")
	return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "id")
}

// TestPropertyIDsAreRecordedByTheirBytes: files of the cache that were written from digits can be
// read.
func TestPropertyIDsAreRecordedByTheirBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := idBytes(t)
		id, ok := gitint.OIDOf(raw)
		if want := slices.ContainsFunc(raw, func(b byte) bool { return b != 0 }); !want {
			raw = nil // the zero id
		} else if !ok || id.String() != hex.EncodeToString(raw) {
			t.Fatalf("%x is %s, %t", raw, id, ok)
		}
		want := key{kind: kindText, size: uint8(len(raw))}
		copy(want.id[:], raw)
		if got, ok := keyOf(kindText, id); ok != (len(raw) > 0) || ok && got != want {
			t.Errorf("the key of %s is %v, %t", id, got, ok)
		}
		var w writer
		w.id(id)
		if record := append([]byte{byte(len(raw))}, raw...); !slices.Equal(w.buf, record) {
			t.Errorf("%s is recorded as %x, want %x", id, w.buf, record)
		}
		if r := newReader(w.buf); r.id() != id || r.done() != nil {
			t.Errorf("%s does not come back", id)
		}
	})
}

// TestOtherIDsAreRefused: no object has an id of another length, and a blob has one.
func TestOtherIDsAreRefused(t *testing.T) {
	for n := range 2 * sha256.Size {
		record := append([]byte{byte(n)}, make([]byte, n)...)
		r := newReader(record)
		r.id()
		if got, want := r.done() == nil, n == 0 || n == 20 || n == sha256.Size; got != want {
			t.Errorf("an id of %d bytes is read: %t", n, got)
		}
	}
	w := writer{buf: append([]byte{1}, make([]byte, len(blobs.Hash{}))...)}
	w.id(gitint.OID{})
	if r := newReader(w.buf); r.files() != nil || r.done() == nil {
		t.Error("a blob without an object is read")
	}
}
