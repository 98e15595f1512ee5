//go:build unix

package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A directory is an open directory. It uses system calls directly, because [os.Root] calls lstat
// for each entry that it lists, and checks for each file whether it can be polled. An entry is a
// single name: without following links, it cannot lead outside.
type directory struct{ self *os.File }

func openDirectory(root *os.Root, name string) (directory, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return directory{}, err
	}
	d, err := directory{f}.open(".") // os would call lstat for each entry
	return d, errors.Join(err, f.Close())
}

func (d directory) open(name string) (directory, error) {
	fd, err := d.openAt(name, unix.O_DIRECTORY)
	if err != nil {
		return directory{}, err
	}
	return directory{os.NewFile(uintptr(fd), name)}, nil
}

func (d directory) openAt(name string, flag int) (fd int, err error) {
	const how = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	err = uninterrupted(func() error {
		fd, err = unix.Openat(int(d.self.Fd()), name, how|flag, 0)
		return err
	})
	return fd, err
}

func (d directory) list() ([]fs.DirEntry, error) { return sorted(d.self) }

func (d directory) close() error { return d.self.Close() }

// file opens a listed file, or what replaced it since, without blocking.
func (d directory) file(name string) (openFile, error) {
	fd, err := waiting(func() (int, error) { return d.openAt(name, noWait) })
	return openFile(fd), err
}

// An openFile is a file descriptor.
type openFile int

func (f openFile) stat() (mode fs.FileMode, size int64, err error) {
	var s unix.Stat_t
	err = uninterrupted(func() error { return unix.Fstat(int(f), &s) })
	if s.Mode&unix.S_IFMT != unix.S_IFREG {
		mode = fs.ModeIrregular
	}
	return mode, s.Size, err
}

// Read implements [io.Reader].
func (f openFile) Read(p []byte) (n int, err error) {
	const most = 1 << 30 // every system accepts that much in one call
	err = uninterrupted(func() error {
		n, err = unix.Read(int(f), p[:min(len(p), most)])
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	default:
		return n, nil
	}
}

func (f openFile) close() error { return unix.Close(int(f)) }

// uninterrupted repeats f while a signal interrupts it.
func uninterrupted(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
