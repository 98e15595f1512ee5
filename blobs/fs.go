package blobs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// FS returns a reader of the blobs in fsys, which has the layout of a store's directory, such as
// the tree of a revision or an index. The limit is that of [Limits].
func FS(fsys fs.FS, maxBlobBytes int64) Reader {
	return fsReader{fsys: fsys, limits: Limits{MaxBlobBytes: maxBlobBytes}}
}

type fsReader struct {
	fsys   fs.FS
	limits Limits
}

// Read is like [Store.Read].
func (r fsReader) Read(ref Ref) ([]byte, error) {
	b, err := r.read(ref)
	if err != nil {
		return nil, readError(ref.Hash, err)
	}
	return b, nil
}

func (r fsReader) read(ref Ref) (b []byte, err error) {
	if err := r.limits.Check(ref.Size); err != nil {
		return nil, err
	}
	f, err := r.fsys.Open(ref.Hash.Path())
	if err != nil {
		return nil, err
	}
	defer closeRead(f)
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(ref.Hash, info.Mode())
	}
	return decode(f, info.Size(), ref)
}

// closeRead closes a file that was only read; the hash has already shown any error.
func closeRead(c io.Closer) { _ = c.Close() }

func notRegular(h Hash, mode fs.FileMode) error {
	return &CorruptError{Hash: h, Reason: "its file is a " + kind(mode)}
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	default:
		return "special file"
	}
}

// readError adds the operation and the blob to err, unless err already names them.
func readError(h Hash, err error) error {
	var corrupt *CorruptError
	var size *SizeError
	var pointer *PointerError
	if errors.As(err, &corrupt) || errors.As(err, &size) || errors.As(err, &pointer) {
		return err
	}
	return fmt.Errorf("read blob %s: %w", h, err)
}
