package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReplace_openForWriting checks that a file which is open for writing is not replaced: the
// program would write to the old file, whatever its name is then.
func TestReplace_openForWriting(t *testing.T) {
	root, dir := openRoot(t)
	x := filepath.Join(dir, "x")
	writeFile(t, x, "old")
	f, err := os.OpenFile(x, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = Replace(root, "x", []byte("old"), []byte("new"), Options{TempDir: tmp})
	if !errors.Is(err, ErrChanged) {
		t.Errorf("error %v", err)
	}
	if _, err := f.WriteString("odd"); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if got := readFile(t, root, "x"); got != "odd" {
		t.Errorf("content %q", got)
	}
	// A program that only reads does not block.
	if f, err = os.Open(x); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Replace(root, "x", []byte("odd"), []byte("new"), Options{TempDir: tmp}); err != nil {
		t.Error(err)
	}
	noTemps(t, root)
}

// TestReplace_leavesNothingOpen checks that Replace closes every file, however it ends: it keeps
// directories open while it replaces a file, and the old file until the new name is synced.
func TestReplace_leavesNothingOpen(t *testing.T) {
	root, dir := openRoot(t)
	x := filepath.Join(dir, "x")
	changed := func() { writeFile(t, x, "odd") }
	failing := func(at Step) func(Step, string) error {
		return func(s Step, _ string) error {
			if s == at {
				return syscall.ENOSPC
			}
			return nil
		}
	}
	for name, hook := range map[string]func(Step, string) error{
		"replaced": nil, "put back": before(StepRename, changed),
		"not renamed": failing(StepRename), "not synced": failing(StepSyncDir),
	} {
		writeFile(t, x, "old")
		opened := openFiles(t, dir)
		_ = Replace(root, "x", []byte("old"), []byte("new"), Options{TempDir: tmp, Hook: hook})
		if now := openFiles(t, dir); now != opened {
			t.Errorf("%s: %d files are open, %d before", name, now, opened)
		}
	}
}

// openFiles counts the files that this process has open below a directory.
func openFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n
}
