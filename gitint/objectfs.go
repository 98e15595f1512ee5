package gitint

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
)

// objectFS shows one object directory to go-git, which wants it as "objects"
// below a repository's directory. It differs from what is on disk in three ways:
// nothing can be written; info/alternates is not there, because go-git follows it
// wrongly and alternates are resolved by us; and the quarantine of a push that
// somebody else is doing is not there either, because git does not look into it.
type objectFS struct{ dir string }

var _ billy.Filesystem = objectFS{}

// path is where name, slash or local, lies on disk. go-git gives names below
// "objects", and opens a pack a second time by the name of its file.
func (o objectFS) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	name = filepath.ToSlash(name)
	return filepath.Join(o.dir, filepath.FromSlash(strings.TrimPrefix(name, "objects")))
}

func (o objectFS) Open(name string) (billy.File, error) {
	if strings.HasSuffix(filepath.ToSlash(name), "info/alternates") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := os.Open(o.path(name))
	if err != nil {
		return nil, err
	}
	return readOnlyFile{f}, nil
}

func (o objectFS) OpenFile(name string, flag int, _ os.FileMode) (billy.File, error) {
	if flag != os.O_RDONLY {
		return nil, billy.ErrReadOnly
	}
	return o.Open(name)
}

func (o objectFS) Stat(name string) (os.FileInfo, error)  { return os.Stat(o.path(name)) }
func (o objectFS) Lstat(name string) (os.FileInfo, error) { return os.Lstat(o.path(name)) }

func (o objectFS) ReadDir(name string) ([]os.FileInfo, error) {
	entries, err := os.ReadDir(o.path(name))
	if err != nil {
		return nil, err
	}
	infos := make([]os.FileInfo, 0, len(entries))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "tmp_objdir-") || strings.HasPrefix(e.Name(), "incoming-") {
			continue
		}
		info, err := e.Info()
		if os.IsNotExist(err) {
			continue // a temporary pack that got its name meanwhile
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (o objectFS) Join(elem ...string) string               { return filepath.Join(elem...) }
func (o objectFS) Root() string                             { return o.dir }
func (o objectFS) Chroot(string) (billy.Filesystem, error)  { return nil, billy.ErrNotSupported }
func (o objectFS) Readlink(name string) (string, error)     { return os.Readlink(o.path(name)) }
func (o objectFS) Create(string) (billy.File, error)        { return nil, billy.ErrReadOnly }
func (o objectFS) Rename(string, string) error              { return billy.ErrReadOnly }
func (o objectFS) Remove(string) error                      { return billy.ErrReadOnly }
func (o objectFS) MkdirAll(string, os.FileMode) error       { return billy.ErrReadOnly }
func (o objectFS) Symlink(string, string) error             { return billy.ErrReadOnly }
func (o objectFS) TempFile(_, _ string) (billy.File, error) { return nil, billy.ErrReadOnly }

// readOnlyFile is a file that needs no lock, because nobody writes it.
type readOnlyFile struct{ *os.File }

func (readOnlyFile) Lock() error   { return nil }
func (readOnlyFile) Unlock() error { return nil }
