package regular_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
	"golang.org/x/sys/unix"
)

// TestReadersWaitForALease reads a file on which another program has a lease for a moment, as one
// that is about to write to it has.
func TestReadersWaitForALease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() // was only read
	for by, read := range map[string]func() ([]byte, error){
		"name": func() ([]byte, error) { return regular.ReadFile(name, 4) },
		"Dir":  func() ([]byte, error) { return regular.Read(regular.Dir(dir), "file", 4) },
		"root": func() ([]byte, error) { return regular.Read(regular.In(root), "file", 4) },
		"folder": func() ([]byte, error) {
			f, err := regular.OpenFolder(root, ".")
			if err != nil {
				return nil, err
			}
			data, _, err := f.Read("file", 4, new(regular.Turn))
			return data, errors.Join(err, f.Close())
		},
	} {
		held, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
			t.Skipf("no leases here: %v", err)
		}
		time.AfterFunc(20*time.Millisecond, func() { _ = held.Close() })
		if data, err := read(); err != nil || string(data) != "text" {
			t.Errorf("by %s: got %q, %v", by, data, err)
		}
	}
}
