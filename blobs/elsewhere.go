package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/git-jp/git-jp/internal/regular"
)

// An Elsewhere provides blobs that have no file in a store, such as those that git has in a clone
// whose working tree leaves them out.
type Elsewhere interface {
	// Has reports whether it knows a blob. It reads no content.
	Has(h Hash) bool
	// File returns the bytes of a blob's file, which are not verified. The error is fs.ErrNotExist
	// if it does not know the blob, and a *NotHereError if it knows the blob but its content is not
	// available now.
	File(ref Ref) ([]byte, error)
}

// A NotHereError reports that content exists, but not on this machine.
type NotHereError struct {
	Ref Ref
	Err error // why it was not fetched
}

// Error names the blob and the reason.
func (e *NotHereError) Error() string {
	return fmt.Sprintf("blob %s is missing locally: %v", e.Ref.Hash, e.Err)
}

// Unwrap returns the reason.
func (e *NotHereError) Unwrap() error { return e.Err }

// Has reports whether the store has a file for a blob, or its Elsewhere knows the blob.
func (s *Store) Has(h Hash) bool {
	if _, err := s.Stat(h); err == nil {
		return true
	}
	return s.elsewhere != nil && s.elsewhere.Has(h)
}

// Missing returns the refs for which [Store.Has] is false. It resolves the path of the store's
// directory once.
func (s *Store) Missing(refs []Ref) (missing []Ref) {
	if len(refs) == 0 {
		return nil
	}
	root, err := s.root()
	var dir *os.Root
	if err == nil {
		dir, err = regular.OpenRootIn(root, s.name)
	}
	if err == nil {
		defer dir.Close() //nolint:errcheck // was only read
	}
	for _, ref := range refs {
		found := err
		if found == nil {
			_, found = dir.Lstat(ref.Hash.Path())
		}
		// The directory may have been removed and created again since it was opened.
		if found != nil && !s.Has(ref.Hash) {
			missing = append(missing, ref)
		}
	}
	return missing
}

// readElsewhere reads a blob that has no file in the store from its Elsewhere, if there is one.
func (s *Store) readElsewhere(ref Ref, missing error) ([]byte, error) {
	if s.elsewhere == nil || !errors.Is(missing, fs.ErrNotExist) {
		return nil, missing
	}
	gz, err := s.elsewhere.File(ref)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing
	}
	if err != nil {
		return nil, readError(ref.Hash, err)
	}
	return Decode(gz, ref)
}
