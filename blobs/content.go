package blobs

import (
	"errors"
	"fmt"
	"sync"
)

// A Ref names content without holding it. Two refs are equal when they name the
// same content.
type Ref struct {
	Hash Hash
	Size int64 // of the uncompressed bytes
}

// RefTo returns the reference to b.
func RefTo(b []byte) Ref { return Ref{Hash: Sum(b), Size: int64(len(b))} }

// String returns the digits of the hash and the size, for messages.
func (r Ref) String() string { return fmt.Sprintf("%s (%d bytes)", r.Hash, r.Size) }

// A Reader finds the bytes of a reference: a [Store], or what [FS] returns.
type Reader interface {
	Read(ref Ref) ([]byte, error)
}

// ErrNoContent is the error of [Content.Bytes] where there is no content at all.
var ErrNoContent = errors.New("no content")

// Content is bytes in memory or a reference to them. It is a small value that may
// be copied and shared between goroutines; the bytes are never changed. The zero
// Content is the absence of content, which is not the same as empty content.
type Content struct {
	loaded *loaded // nil for a reference
	ref    Ref     // of a reference
	set    bool    // tells a reference from the zero Content
}

// loaded remembers the hash of its bytes, so that every copy of a Content pays for
// it at most once, and only if somebody asks.
type loaded struct {
	bytes []byte
	sum   sync.Once
	hash  Hash
}

// Loaded returns content that is in memory. It keeps b, which must not be changed
// afterwards.
func Loaded(b []byte) Content { return Content{loaded: &loaded{bytes: b}} }

// Refer returns content that is read when it is needed.
func Refer(r Ref) Content { return Content{ref: r, set: true} }

// IsZero reports whether c is no content at all.
func (c Content) IsZero() bool { return c.loaded == nil && !c.set }

// IsRef reports whether c is a reference.
func (c Content) IsRef() bool { return c.set }

// Ref returns the identity of c. It hashes loaded bytes on the first call and never
// opens a blob. The zero Content has the zero Ref.
func (c Content) Ref() Ref {
	if c.loaded == nil {
		return c.ref
	}
	l := c.loaded
	l.sum.Do(func() { l.hash = Sum(l.bytes) })
	return Ref{Hash: l.hash, Size: int64(len(l.bytes))}
}

// Size returns the number of bytes of c. It never opens a blob.
func (c Content) Size() int64 {
	if c.loaded == nil {
		return c.ref.Size
	}
	return int64(len(c.loaded.bytes))
}

// Bytes returns the bytes of c, which must not be changed. A reference is read
// through r at each call: nothing is kept, so that walking a long conversation does
// not collect all its content in memory. The zero Content is [ErrNoContent].
func (c Content) Bytes(r Reader) ([]byte, error) {
	switch {
	case c.loaded != nil:
		return c.loaded.bytes, nil
	case c.set:
		return r.Read(c.ref)
	default:
		return nil, ErrNoContent
	}
}
