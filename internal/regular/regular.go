package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrNot is the error of reading what is no regular file: a pipe, a socket, a device, or a
// directory.
var ErrNot = errors.New("no regular file")

// ReadFile is [os.ReadFile] of a regular file of at most limit bytes, or of a link to one. More
// than that is a [*SizeError].
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	return readOpen(f, name, limit)
}

// ReadNamed is ReadFile of what a person named, who means a pipe where it is one.
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

// Read is [fs.ReadFile] of a regular file of at most limit bytes, or of a link to one that the
// file system follows. More than that is a [*SizeError].
//
// A file system that has pipes must open them without waiting, as those of [In] and [Dir] do.
func Read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	if whole, ok := fsys.(fs.ReadFileFS); ok {
		return readWhole(whole, name, limit)
	}
	info, err := fs.Stat(fsys, name)
	if err == nil {
		err = judge(name, info, limit)
	}
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	return readOpen(f, name, limit)
}

// readWhole reads from a file system that bounds what it reads by itself, such as a tree of Git,
// or has it in memory.
func readWhole(fsys fs.ReadFileFS, name string, limit int64) ([]byte, error) {
	if s, ok := fsys.(fs.StatFS); ok {
		info, err := s.Stat(name)
		if err == nil {
			err = judge(name, info, limit)
		}
		if err != nil {
			return nil, err
		}
	}
	data, err := fsys.ReadFile(name)
	if n := int64(len(data)); err == nil && n > limit {
		err = &fs.PathError{Op: "read", Path: name, Err: &SizeError{Size: n, Max: limit}}
	}
	return data, err
}

// ReadUnlinked is Read of what is no link either: nobody follows those that lie below .jp.
func ReadUnlinked(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Lstat(fsys, name)
	if err == nil {
		err = judge(name, info, limit)
	}
	if err != nil {
		return nil, err
	}
	return Read(fsys, name, limit)
}

// OpenFile opens a regular file, or a link to one. How much of it is read is for the caller to
// bound.
func OpenFile(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil {
		err = judge(name, info, Unbounded) // a device may do something when it is opened
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	return f, judgeOpen(f, name)
}

// OpenIn is OpenFile below a directory, whatever bytes a name has.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err == nil {
		err = judge(name, info, Unbounded)
	}
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	return f, judgeOpen(f, name)
}

// Open is OpenFile in a file system.
func Open(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err == nil {
		err = judge(name, info, Unbounded)
	}
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	return f, judgeOpen(f, name)
}

// judgeOpen closes what has become no regular file since it was looked at.
func judgeOpen(f fs.File, name string) error {
	info, err := f.Stat()
	if err == nil {
		err = judge(name, info, Unbounded)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// readOpen reads all of f and closes it.
func readOpen(f fs.File, name string, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err == nil {
		err = judge(name, info, limit)
	}
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

// whole is all of a regular file, of which the system gives less than was asked for only at its
// end: where it is as large as it was said to be, nobody asks for the end another time.
func whole(f io.Reader, size, limit int64) ([]byte, error) {
	data := make([]byte, size+1)
	n, err := f.Read(data)
	if err == nil && int64(n) == size {
		return data[:n], nil
	}
	return rest(f, data[:n], limit, err)
}

// all reads what is said to have size bytes and may have grown. No more than one byte over the
// limit is asked for.
func all(r io.Reader, size, limit int64) ([]byte, error) {
	return rest(r, make([]byte, 0, min(size, limit)+1), limit, nil)
}

// rest reads on after data, with which that error came.
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

// ReadAll is [io.ReadAll] of at most limit bytes. More than that is a [*SizeError].
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	const usual = 8 << 10
	return all(r, usual, limit)
}

// unjoined takes a single error out of a join.
func unjoined(err error) error {
	if j, ok := err.(interface{ Unwrap() []error }); ok && len(j.Unwrap()) == 1 {
		return j.Unwrap()[0]
	}
	return err
}

func judge(name string, info fs.FileInfo, limit int64) error {
	switch {
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "read", Path: name, Err: ErrNot}
	case info.Size() > limit:
		return &fs.PathError{
			Op: "read", Path: name, Err: &SizeError{Size: info.Size(), Max: limit},
		}
	}
	return nil
}

// SameFile reports whether two names are those of one file or directory. What cannot be looked at
// is the same as nothing.
func SameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
