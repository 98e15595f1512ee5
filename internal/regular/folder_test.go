package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/regular"
)

// TestFolder reads a listed file within the limit, and no link, no directory, no file created
// later, and no file replaced by a link to one outside.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "sub", name) }
	if err := errors.Join(
		os.Mkdir(filepath.Join(dir, "sub"), 0o700), os.Mkdir(at("other"), 0o700),
		os.WriteFile(at("file"), []byte("text"), 0o600),
		os.WriteFile(at("large"), []byte("texts"), 0o600),
		os.WriteFile(at("moved"), []byte("text"), 0o600),
		os.WriteFile(filepath.Join(dir, "outside"), []byte("text"), 0o600),
		os.Symlink("file", at("link")),
	); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() // was only read
	folder, err := regular.OpenFolder(root, "sub")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close() // the same
	if err := errors.Join(
		os.Remove(at("moved")), os.Symlink("../outside", at("moved")),
		os.WriteFile(at("new"), []byte("text"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	if n := len(folder.Entries()); n != 5 {
		t.Errorf("%d entries, want 5", n)
	}
	for name, want := range map[string]error{
		"file": nil, "link": regular.ErrNot, "other": regular.ErrNot,
		"new": fs.ErrNotExist, "none": fs.ErrNotExist,
	} {
		data, done, err := folder.Read(name, 4, new(regular.Turn))
		done()
		if !errors.Is(err, want) || want == nil && string(data) != "text" {
			t.Errorf("Read(%s) = %q, %v, want %v", name, data, err, want)
		}
	}
	if _, _, err := folder.Read("large", 4, new(regular.Turn)); !errors.As(err, new(*regular.SizeError)) {
		t.Errorf("a large file: %v", err)
	}
	if data, _, err := folder.Read("moved", 4, new(regular.Turn)); err == nil {
		t.Errorf("read %q outside of the folder", data)
	}
}
