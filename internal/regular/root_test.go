//go:build unix

package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/git-jp/git-jp/internal/regular"
)

// TestOpenRoot opens a directory, and a link to one; of all else it returns an error at once, which
// names the path that was given.
func TestOpenRoot(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.Mkdir(at("dir"), 0o700), os.Symlink("dir", at("link")), syscall.Mkfifo(at("pipe"), 0o600),
		os.WriteFile(at("file"), nil, 0o600), os.Symlink("pipe", at("linked-pipe")),
	); err != nil {
		t.Fatal(err)
	}
	top, err := regular.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close() // was only read
	for name, want := range map[string]error{
		"dir": nil, "link": nil, "file": syscall.ENOTDIR, "pipe": syscall.ENOTDIR,
		"linked-pipe": syscall.ENOTDIR, "none": fs.ErrNotExist,
	} {
		root, err := regular.OpenRoot(at(name))
		failed := new(fs.PathError)
		if !errors.Is(err, want) || errors.As(err, &failed) && failed.Path != at(name) {
			t.Errorf("OpenRoot(%s): %v, want %v", name, err, want)
		}
		if root != nil {
			_ = root.Close()
		}
		below, err := regular.OpenRootIn(top, name)
		if !errors.Is(err, want) {
			t.Errorf("OpenRootIn(%s): %v, want %v", name, err, want)
		}
		if below != nil {
			_ = below.Close()
		}
	}
	if _, err := regular.OpenRoot(""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenRoot of no path: %v", err)
	}
}

// TestOutside verifies that a link out of a directory is named, whatever the operation.
func TestOutside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("/nowhere/else", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	root, err := regular.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() // nothing is written through it
	fsys := regular.In(root)
	_, open := fsys.Open("link")
	_, stat := fsys.Stat("link/below")
	_, list := fsys.ReadDir("link")
	_, folder := fsys.OpenFolder("link")
	_, lstat := fsys.Lstat("link/below")
	_, read := fsys.ReadLink("link/below")
	for i, err := range []error{open, stat, list, folder, lstat, read} {
		if !errors.Is(err, regular.ErrOutside) {
			t.Errorf("error %d is %v", i, err)
		}
	}
	if _, err := fsys.Stat("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestReadIn reads below a directory what is a file, or a link to one where links are followed, and
// names the path of everything else.
func TestReadIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := errors.Join(
		os.MkdirAll(at("a/b"), 0o700), os.Mkdir(at("c"), 0o700),
		os.WriteFile(at("a/b/file"), []byte("text"), 0o600),
		os.Symlink("../a/b/file", at("c/link")), os.Symlink("a", at("dir")),
		os.Symlink("/etc/hosts", at("c/out")), syscall.Mkfifo(at("c/pipe"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	root, err := regular.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() // nothing is written through it
	var large *regular.SizeError
	for _, c := range []struct {
		name        string
		limit       int64
		linked, own error // with and without links, nil for the text
	}{
		{"a/b/file", 4, nil, nil},
		{"dir/b/file", 4, nil, nil}, // links are files' own
		{"c/link", 4, nil, regular.ErrNot},
		{"c/out", 4, regular.ErrOutside, regular.ErrNot},
		{"c/pipe", 4, regular.ErrNot, regular.ErrNot},
		{"a/b", 4, regular.ErrNot, regular.ErrNot},
		{"a/none", 4, fs.ErrNotExist, fs.ErrNotExist},
		{"none/file", 4, fs.ErrNotExist, fs.ErrNotExist},
		{"a/b/file/below", 4, syscall.ENOTDIR, syscall.ENOTDIR},
		{"c/../a/b/file", 4, fs.ErrInvalid, fs.ErrInvalid},
	} {
		data, err := regular.Read(regular.In(root), c.name, c.limit)
		checkRead(t, c.name, data, err, c.linked)
		data, err = regular.ReadUnlinked(regular.In(root), c.name, c.limit)
		checkRead(t, c.name, data, err, c.own)
	}
	if _, err := regular.Read(regular.In(root), "c/link", 3); !errors.As(err, &large) {
		t.Errorf("Read of more than the limit: %v, want a SizeError", err)
	}
}

func checkRead(t *testing.T, name string, data []byte, err, want error) {
	t.Helper()
	var at *fs.PathError
	switch {
	case !errors.Is(err, want):
		t.Errorf("read %s: %v, want %v", name, err, want)
	case want == nil && string(data) != "text":
		t.Errorf("read %s: %q, want %q", name, data, "text")
	case want != nil && (!errors.As(err, &at) || at.Path != name):
		t.Errorf("read %s: %v does not name the path", name, err)
	}
}
