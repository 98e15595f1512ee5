package blobs

import (
	"errors"
	"fmt"
	"io/fs"
)

// IsLost reports whether an error means that content is lost, rather than that it could not be
// read.
func IsLost(err error) bool {
	var corrupt *CorruptError
	var pointer *PointerError
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &corrupt) || errors.As(err, &pointer)
}

// A CorruptError reports that the file of a blob exists, but that the content of the blob cannot be
// read from it.
type CorruptError struct {
	Hash   Hash
	Reason string // what is wrong, such as "its content has another hash"
	Err    error  // the error of the decoder, or nil
}

// Error names the blob, the reason and the error of the decoder.
func (e *CorruptError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("blob %s is corrupt: %s: %v", e.Hash, e.Reason, e.Err)
	}
	return fmt.Sprintf("blob %s is corrupt: %s", e.Hash, e.Reason)
}

// Unwrap returns the error of the decoder.
func (e *CorruptError) Unwrap() error { return e.Err }

// A SizeError reports that a reference and the content of its blob have different sizes: the
// reference is wrong, not the blob.
type SizeError struct {
	Ref Ref
	// Actual is the size of the content, which has the right hash. It is -1 if the content is
	// longer than the reference says and reading stopped there; then the content may also be
	// corrupt, which [Store.Verify] or [Verify] can find out.
	Actual int64
}

// Error names the blob and both sizes.
func (e *SizeError) Error() string {
	if e.Actual < 0 {
		return fmt.Sprintf("blob %s holds more than the %d bytes of its reference",
			e.Ref.Hash, e.Ref.Size)
	}
	return fmt.Sprintf("blob %s holds %d bytes, its reference says %d",
		e.Ref.Hash, e.Actual, e.Ref.Size)
}

// A PointerError reports that the file of a blob is a Git LFS pointer: the content was never
// fetched.
type PointerError struct {
	Hash Hash
	OID  string // SHA-256 of the blob's file (not of its content), in hexadecimal
	Size int64  // of the blob's file
}

// Error names the blob and the object that the pointer refers to.
func (e *PointerError) Error() string {
	return fmt.Sprintf("blob %s is a Git LFS pointer to %s (%d bytes)", e.Hash, e.OID, e.Size)
}

// A PointersError reports how many of the requested blobs are Git LFS pointers.
type PointersError struct {
	Count int
}

// Error returns the text of [PointersText].
func (e *PointersError) Error() string { return PointersText(e.Count) }

// A LimitError reports that content is larger than the store's limit, or that the size in a
// reference is over the limit or negative.
type LimitError struct {
	Size, Max int64
}

// Error names the size and the limit.
func (e *LimitError) Error() string {
	if e.Size < 0 {
		return fmt.Sprintf("content cannot have %d bytes", e.Size)
	}
	return fmt.Sprintf("content of %d bytes is over the limit of %d", e.Size, e.Max)
}

// A ForeignError reports an entry of the store's directory that is not a blob.
type ForeignError struct {
	Path string // slash-separated, below the store's directory
}

// Error names the path.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%q in the blob store is not a blob", e.Path)
}
