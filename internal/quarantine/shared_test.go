//go:build unix

package quarantine_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/quarantine"
)

// sharedDir is the variable with the repository that another member has filled.
const sharedDir = "GIT_JP_TEST_SHARED"

// TestGroupRestoresAndErases verifies that a member of a shared repository can restore and erase
// what another member quarantined under a strict umask. Where root runs the test, these are two
// users.
func TestGroupRestoresAndErases(t *testing.T) {
	dir := os.Getenv(sharedDir)
	if dir == "" {
		dir = fillShared(t)
		t.Setenv(sharedDir, dir)
		if gittest.RanAsUser(t) {
			return
		}
	}
	q := quarantine.Quarantine{Dir: filepath.Join(dir, "jp", "trash")}
	copies := q.Copies(id)
	if len(copies) != 1 {
		t.Fatalf("%d copies", len(copies))
	}
	contents := 0
	err := copies[0].Contents(func([]byte) error { contents++; return nil })
	if err != nil || contents != 1 {
		t.Errorf("%d contents, %v", contents, err)
	}
	items, err := q.Items()
	if err != nil || len(items) != 1 {
		t.Fatalf("%d items, %v", len(items), err)
	}
	if err := items[0].Erase(); err != nil {
		t.Error(err)
	}
}

// fillShared quarantines a conversation in a new shared repository, as another user if this process
// is root's.
func fillShared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "shared-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o770|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	was, is, store := conversation(t)
	defer syscall.Umask(syscall.Umask(0o077))
	q := quarantine.Quarantine{Dir: filepath.Join(dir, "jp", "trash")}
	_, err = q.Put(quarantine.Change{ID: id, At: at(9), Was: was, Is: is, Contents: store})
	if err != nil {
		t.Fatal(err)
	}
	// A run of garbage collection renames blobs.
	run := filepath.Join(dir, "jp", "trash", "run", "files")
	if err := atomicfile.MkdirPrivate(run); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "blob")
	if err := os.WriteFile(moved, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(moved, filepath.Join(run, "blob")); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Adopt(filepath.Join(run, "blob")); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o060 != 0o060 {
			t.Errorf("%s has mode %v, closed to the group", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	gittest.GiveToMember(t, dir)
	return dir
}
