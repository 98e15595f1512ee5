package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// A Ref identifies content without holding it. Two refs are equal if they identify the same
// content.
type Ref struct {
	Hash Hash
	Size int64 // of the uncompressed content
}

// RefTo returns the reference to b.
func RefTo(b []byte) Ref { return Ref{Hash: Sum(b), Size: int64(len(b))} }

// String returns the digits of the hash and the size, for messages.
func (r Ref) String() string { return fmt.Sprintf("%s (%d bytes)", r.Hash, r.Size) }

// A Reader reads the content of a reference: a [Store], or the result of [FS].
type Reader interface {
	Read(ref Ref) ([]byte, error)
}

// Readers reads a blob from the first of several places that has it.
type Readers []Reader

// Read implements [Reader].
func (all Readers) Read(ref Ref) (data []byte, err error) {
	err = fs.ErrNotExist
	for _, r := range all {
		if data, err = r.Read(ref); err == nil {
			return data, nil
		}
	}
	return nil, err
}

// ErrNoContent is the error of [Content.Bytes] for the zero Content.
var ErrNoContent = errors.New("no content")

// A Content is bytes in memory or a reference to them. It is a small value that may be copied and
// shared between goroutines; the bytes are never changed. The zero Content is no content, which is
// not the same as empty content.
type Content struct {
	loaded *loaded // nil for a reference
	ref    Ref     // the reference, if set
	set    bool    // distinguishes a reference from the zero Content
}

// loaded caches the hash of its bytes, so that all copies of a Content compute it at most once, and
// only on demand.
type loaded struct {
	bytes []byte
	sum   sync.Once
	hash  Hash
}

// Loaded returns content that is in memory. It keeps b, which must not be changed afterwards.
func Loaded(b []byte) Content { return Content{loaded: &loaded{bytes: b}} }

// Refer returns content that is read when it is needed.
func Refer(r Ref) Content { return Content{ref: r, set: true} }

// IsZero reports whether c is no content at all.
func (c Content) IsZero() bool { return c.loaded == nil && !c.set }

// IsRef reports whether c is a reference.
func (c Content) IsRef() bool { return c.set }

// Ref returns the reference to c. It hashes loaded bytes on the first call and never opens a blob.
// The zero Content has the zero Ref.
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

// Bytes returns the bytes of c, which must not be changed. A reference is read through r at each
// call and is not cached, so that walking a long conversation does not keep all its content in
// memory. For the zero Content the error is [ErrNoContent].
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
