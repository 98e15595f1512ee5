package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNot is the error for reading a pipe, a socket, a device, or a directory instead of a regular
// file.
var ErrNot = errors.New("it is not a regular file")

// ReadFile is [os.ReadFile] for a regular file of at most limit bytes, or a link to one. A larger
// file is a [*SizeError].
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	return readOpen(f, name, limit)
}

// ReadNamed is ReadFile for a file that the user named: a pipe is intended.
func ReadNamed(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := all(f, 0, limit)
	if over, ok := errors.AsType[*SizeError](err); ok {
		err = &fs.PathError{Op: "read", Path: name, Err: over}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, unjoined(err)
	}
	return data, nil
}

// Read is [fs.ReadFile] for a regular file of at most limit bytes, or a link to one that the file
// system follows. A larger file is a [*SizeError].
//
// A file system that has pipes must open them without blocking, as those of [In] and [Dir] do.
func Read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	switch fsys := fsys.(type) {
	case RootFS:
		return fsys.read(name, limit, true)
	case fs.ReadFileFS:
		return readWhole(fsys, name, limit)
	}
	if err := (wanted{name, limit}).judge(fs.Stat(fsys, name)); err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	return readOpen(f, name, limit)
}

// readWhole reads from a file system that limits its reads by itself, such as a tree of git, or
// that is in memory.
func readWhole(fsys fs.ReadFileFS, name string, limit int64) ([]byte, error) {
	if s, ok := fsys.(fs.StatFS); ok {
		if err := (wanted{name, limit}).judge(s.Stat(name)); err != nil {
			return nil, err
		}
	}
	data, err := fsys.ReadFile(name)
	if n := int64(len(data)); err == nil && n > limit {
		err = &fs.PathError{Op: "read", Path: name, Err: &SizeError{Size: n, Max: limit}}
	}
	return data, err
}

// ReadUnlinked is Read without links, which are not followed below .jp.
func ReadUnlinked(fsys fs.FS, name string, limit int64) ([]byte, error) {
	if in, ok := fsys.(RootFS); ok {
		return in.read(name, limit, false)
	}
	if err := (wanted{name, limit}).judge(fs.Lstat(fsys, name)); err != nil {
		return nil, err
	}
	return Read(fsys, name, limit)
}

// OpenFile opens a regular file, or a link to one. The caller must limit how much it reads.
func OpenFile(name string) (*os.File, error) {
	return open(name, os.Stat, openNow)
}

// OpenIn is OpenFile below a directory, for names of any bytes.
func OpenIn(root *os.Root, name string) (*os.File, error) { return openIn(root, name, true) }

// OpenUnlinked is OpenIn without links, as [ReadUnlinked].
func OpenUnlinked(root *os.Root, name string) (*os.File, error) { return openIn(root, name, false) }

func openIn(root *os.Root, name string, follow bool) (*os.File, error) {
	f, err := In(root).openRegular(name, Unbounded, follow)
	if err != nil {
		return nil, err
	}
	return opened(f, wanted{name, Unbounded})
}

// Open is OpenFile in a file system.
func Open(fsys fs.FS, name string) (fs.File, error) {
	stat := func(name string) (fs.FileInfo, error) { return fs.Stat(fsys, name) }
	return open(name, stat, fsys.Open)
}

// open checks a file before it opens it, since opening a device may have an effect, and closes one
// that was replaced by something else since.
func open[F fs.File](
	name string, stat func(string) (fs.FileInfo, error), open func(string) (F, error),
) (f F, err error) {
	file := wanted{name, Unbounded}
	if err := file.judge(stat(name)); err != nil {
		return f, err
	}
	if f, err = open(name); err != nil {
		return f, err
	}
	return opened(f, file)
}

// opened returns an open file unless it is none that is wanted.
func opened[F fs.File](f F, file wanted) (F, error) {
	if err := file.judge(f.Stat()); err != nil {
		return f, errors.Join(err, f.Close())
	}
	return f, nil
}

// readOpen reads all of f and closes it.
func readOpen(f fs.File, name string, limit int64) ([]byte, error) {
	info, err := f.Stat()
	err = (wanted{name, limit}).judge(info, err)
	var data []byte
	if err == nil {
		data, err = whole(f, info.Size(), limit)
	}
	if over, ok := errors.AsType[*SizeError](err); ok {
		err = &fs.PathError{Op: "read", Path: name, Err: over}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, unjoined(err)
	}
	return data, nil
}

// whole reads all of a regular file. Since the system returns less than requested only at the end
// of a file, one read is enough if the file has the expected size.
func whole(f io.Reader, size, limit int64) ([]byte, error) {
	data := make([]byte, size+1)
	n, err := f.Read(data)
	if err == nil && int64(n) == size {
		return data[:n], nil
	}
	return rest(f, data[:n], limit, err)
}

// all reads a file of an expected size, which may have grown. It requests at most one byte beyond
// the limit.
func all(r io.Reader, size, limit int64) ([]byte, error) {
	return rest(r, make([]byte, 0, min(size, limit)+1), limit, nil)
}

// rest continues a read after data, which came with err.
func rest(r io.Reader, data []byte, limit int64, err error) ([]byte, error) {
	for {
		switch {
		case int64(len(data)) > limit:
			return nil, &SizeError{Size: int64(len(data)), Max: limit}
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			more := min(int64(cap(data)), limit+1-int64(len(data)))
			data = append(make([]byte, 0, int64(len(data))+more), data...)
		}
		var n int
		n, err = r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
	}
}

// ReadAll is [io.ReadAll] for at most limit bytes. More is a [*SizeError].
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	const usual = 8 << 10
	return all(r, usual, limit)
}

// unjoined returns the only error of a join.
func unjoined(err error) error {
	if j, ok := err.(interface{ Unwrap() []error }); ok && len(j.Unwrap()) == 1 {
		return j.Unwrap()[0]
	}
	return err
}

// A wanted file is a regular one of a bounded size.
type wanted struct {
	name  string
	limit int64
}

// judge returns an error for any other file, by what was found out about it.
func (w wanted) judge(info fs.FileInfo, err error) error {
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "read", Path: w.name, Err: ErrNot}
	case info.Size() > w.limit:
		return &fs.PathError{
			Op: "read", Path: w.name, Err: &SizeError{Size: info.Size(), Max: w.limit},
		}
	}
	return nil
}

// SameFile reports whether two names refer to the same file or directory. It returns false on an
// error.
func SameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// PrefixOf returns the part of a path that refers to the directory dir, as dir is named there; ""
// if the path is not dir, or below it.
func PrefixOf(path, dir string) string {
	if dir == "" || !filepath.IsAbs(path) {
		return ""
	}
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if at == dir || SameFile(at, dir) {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
