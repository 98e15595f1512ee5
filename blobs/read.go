package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Read returns the content of ref. It reads at most ref.Size+1 bytes of content and verifies the
// hash. The error is [fs.ErrNotExist] if there is no such blob, a *[PointerError] or a
// *[CorruptError] if its file does not hold the content, a *[SizeError] if ref has the wrong size,
// a *[LimitError] if ref.Size is over the limit, or an error of the file system.
func (s *Store) Read(ref Ref) ([]byte, error) {
	var b []byte
	err := s.read(ref, func(f *os.File, size int64) (err error) {
		b, err = decode(f, size, ref)
		return err
	})
	if err != nil {
		return s.readElsewhere(ref, err)
	}
	return b, nil
}

// Verify is like Read, but does not keep the content. It reads beyond ref.Size, up to the limit, to
// distinguish a wrong size in the reference from a corrupt blob. A blob that has no file in the
// store but is known to its Elsewhere is assumed to be intact: it is verified when its content is
// read.
func (s *Store) Verify(ref Ref) error {
	err := s.read(ref, func(f *os.File, _ int64) error {
		return verify(f, ref, s.limits.Max())
	})
	if errors.Is(err, fs.ErrNotExist) && s.elsewhere != nil && s.elsewhere.Has(ref.Hash) {
		return nil
	}
	return err
}

func (s *Store) read(ref Ref, decode func(f *os.File, size int64) error) error {
	if err := s.limits.Check(ref.Size); err != nil {
		return readError(ref.Hash, err)
	}
	err := s.do(s.root, func(root *os.Root) error {
		f, size, err := s.openBlob(root, s.path(ref.Hash), ref.Hash)
		if err != nil {
			return err
		}
		defer closeRead(f)
		return decode(f, size)
	})
	if err != nil {
		return readError(ref.Hash, err)
	}
	return nil
}

// Stat describes the file of h, without opening it or following a link.
func (s *Store) Stat(h Hash) (fs.FileInfo, error) {
	var info fs.FileInfo
	err := s.do(s.root, func(root *os.Root) (err error) {
		info, err = root.Lstat(s.path(h))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("stat blob %s: %w", h, err)
	}
	return info, nil
}
