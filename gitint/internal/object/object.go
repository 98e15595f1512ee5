package object

import (
	"crypto/sha1" // the name that git gave it is compared, not trusted
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"

	"github.com/git-jp/git-jp/internal/regular"
)

// The kinds of objects.
const (
	KindCommit = "commit"
	KindTree   = "tree"
	KindBlob   = "blob"
	KindTag    = "tag"
)

// ErrMissing reports that an object is not where it was looked for.
var ErrMissing = errors.New("object not found")

// An Object is a decompressed object.
type Object struct {
	Kind string // blob, tree, commit or tag
	Data []byte
}

// ID returns the name of the object in the format with ids of this size.
func (o Object) ID(size int) ID {
	var h Hasher
	return h.ID(o, size)
}

// Verify compares the object with its name, which git does not do when it reads.
func (o Object) Verify(id ID) error {
	var h Hasher
	return h.Verify(o, id)
}

// Own returns the content for a caller that may change it: only the memory of a blob is not shared.
func (o Object) Own() []byte {
	if o.Kind == KindBlob {
		return o.Data
	}
	return slices.Clone(o.Data)
}

// NewHash returns the hash for ids of this size.
func NewHash(size int) hash.Hash {
	if size == SHA256Size {
		return sha256.New()
	}
	return sha1.New() // see the import
}

// A Hasher names many objects of one format with one hash.
type Hasher struct {
	hash hash.Hash
	buf  []byte
}

// ID returns the name of an object in the format with ids of this size, the same in every call.
func (h *Hasher) ID(o Object, size int) ID {
	if h.hash == nil {
		h.hash, h.buf = NewHash(size), make([]byte, 0, 2*SHA256Size)
	}
	h.hash.Reset()
	h.buf = append(append(h.buf[:0], o.Kind...), ' ')
	h.buf = append(strconv.AppendInt(h.buf, int64(len(o.Data)), 10), 0)
	h.hash.Write(h.buf)
	h.hash.Write(o.Data)
	return IDOf(h.hash.Sum(h.buf[:0]))
}

// Verify is [Object.Verify].
func (h *Hasher) Verify(o Object, id ID) error {
	if actual := h.ID(o, id.Size()); actual != id {
		return Mismatch(id, actual)
	}
	return nil
}

// Mismatch returns the error for the content of another object.
func Mismatch(id, actual ID) error {
	return &CorruptError{OID: id, Reason: "its content is that of " + actual.String()}
}

// A CorruptError reports an object whose content does not match its name, or cannot be read.
type CorruptError struct {
	OID    ID
	Reason string
	Err    error
}

// Error names the object and its fault.
func (e *CorruptError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("object %s is corrupt: %s: %v", e.OID, e.Reason, e.Err)
	}
	return fmt.Sprintf("object %s is corrupt: %s", e.OID, e.Reason)
}

// Unwrap returns the cause, which may be nil.
func (e *CorruptError) Unwrap() error { return e.Err }

// A SizeError reports an object that is larger than the reader allows.
type SizeError struct {
	OID       ID
	Size, Max int64
}

// Error has both sizes; the reader of a file adds its name.
func (e *SizeError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error of a file of that size on disk.
func (e *SizeError) Unwrap() error { return &regular.SizeError{Size: e.Size, Max: e.Max} }

// IsTooLarge reports whether an error is about a [SizeError].
func IsTooLarge(err error) bool {
	_, is := errors.AsType[*SizeError](err)
	return is
}
