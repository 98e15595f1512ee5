package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"
)

// across makes the first rename fail as between file systems, and calls then, if not nil, before
// each step after that.
func across(then func(Step, string) error) func(Step, string) error {
	failed := false
	return func(step Step, name string) error {
		switch {
		case step == StepRename && !failed:
			failed = true
			return syscall.EXDEV
		case failed && then != nil:
			return then(step, name)
		}
		return nil
	}
}

// original makes the directory that is moved.
func original(t *testing.T, root *os.Root) fs.FileInfo {
	t.Helper()
	old := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, err := range []error{
		root.MkdirAll("from/sub", 0o755),
		root.WriteFile("from/a", []byte("a"), 0o600),
		root.WriteFile("from/sub/b", []byte("b"), 0o644),
		root.Chmod("from/a", 0o640),
		root.Chtimes("from/a", old, old),
		root.Chmod("from", 0o750),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	info, err := root.Lstat("from/a")
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// complete verifies the moved directory.
func complete(t *testing.T, root *os.Root, dir string) {
	t.Helper()
	if a, b := readFile(t, root, dir+"/a"), readFile(t, root, dir+"/sub/b"); a != "a" || b != "b" {
		t.Errorf("%s has %q and %q", dir, a, b)
	}
}

func TestMoveDir_copiesWhereRenamesFail(t *testing.T) {
	root, _ := openRoot(t)
	was := original(t, root)
	if err := MoveDir(root, "from", "to", Options{TempDir: tmp, Hook: across(nil)}); err != nil {
		t.Fatal(err)
	}
	complete(t, root, "to")
	noTemps(t, root)
	if _, err := root.Lstat("from"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the original: %v", err)
	}
	now, err := root.Lstat("to/a")
	if err != nil || now.Mode() != was.Mode() || !now.ModTime().Equal(was.ModTime()) {
		t.Errorf("to/a is %v of %v, %v; was %v of %v", now.Mode(), now.ModTime(), err, was.Mode(), was.ModTime())
	}
	if dir, err := root.Lstat("to"); err != nil || dir.Mode().Perm() != 0o750 {
		t.Errorf("to: %v, %v", dir.Mode(), err)
	}
}

// TestMoveDir_anyStepMayFail verifies that one of the two directories is complete whenever a step
// fails, and that nothing is left where the copy was not published.
func TestMoveDir_anyStepMayFail(t *testing.T) {
	for n := 0; ; n++ {
		root, _ := openRoot(t)
		original(t, root)
		steps, failed := 0, errors.New("failed")
		err := MoveDir(root, "from", "to", Options{TempDir: tmp, Hook: across(func(Step, string) error {
			if steps++; steps == n+1 {
				return failed
			}
			return nil
		})})
		if err == nil {
			if n < 10 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		if !errors.Is(err, failed) {
			t.Fatalf("step %d: %v", n, err)
		}
		dir := "from"
		if _, err := root.Lstat("to"); err == nil {
			dir = "to"
		}
		complete(t, root, dir)
		noTemps(t, root)
	}
}

// TestMoveDir_keepsWhatWasWritten changes a file when the copy is complete, and about to be
// published.
func TestMoveDir_keepsWhatWasWritten(t *testing.T) {
	const name = "from/sub/b"
	for change, write := range map[string]func(root *os.Root, was fs.FileInfo) error{
		"longer": func(root *os.Root, was fs.FileInfo) error {
			return errors.Join(root.WriteFile(name, []byte("longer"), 0o644),
				root.Chtimes(name, was.ModTime(), was.ModTime()))
		},
		"newer": func(root *os.Root, was fs.FileInfo) error {
			now := was.ModTime().Add(time.Second)
			return errors.Join(root.WriteFile(name, []byte("newer"), 0o644),
				root.Chtimes(name, now, now))
		},
		"other": func(root *os.Root, was fs.FileInfo) error {
			return errors.Join(root.WriteFile("other", []byte("other"), 0o644),
				root.Chtimes("other", was.ModTime(), was.ModTime()), root.Rename("other", name))
		},
	} {
		root, _ := openRoot(t)
		original(t, root)
		if err := root.WriteFile(name, []byte("first"), 0o644); err != nil {
			t.Fatal(err)
		}
		was, err := root.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		err = MoveDir(root, "from", "to", Options{TempDir: tmp, Hook: across(func(step Step, _ string) error {
			if step == StepRename {
				return write(root, was)
			}
			return nil
		})})
		if err == nil {
			t.Errorf("%s: no error", change)
		}
		if got := readFile(t, root, name); got != change {
			t.Errorf("%s: left is %q", change, got)
		}
		if got := readFile(t, root, "to/sub/b"); got != "first" {
			t.Errorf("%s: the copy is %q", change, got)
		}
	}
}

// TestMoveDir_takesNamesOfAnyBytes moves files whose names are not UTF-8.
func TestMoveDir_takesNamesOfAnyBytes(t *testing.T) {
	root, _ := openRoot(t)
	original(t, root)
	if err := root.Rename("from/a", "from/a\xff"); err != nil {
		t.Skip(err) // the system refuses such names
	}
	if err := root.Rename("from/sub", "from/sub\xff"); err != nil {
		t.Fatal(err)
	}
	if err := MoveDir(root, "from", "to", Options{TempDir: tmp, Hook: across(nil)}); err != nil {
		t.Fatal(err)
	}
	if a, b := readFile(t, root, "to/a\xff"), readFile(t, root, "to/sub\xff/b"); a != "a" || b != "b" {
		t.Errorf("got %q and %q", a, b)
	}
	noTemps(t, root)
}

// TestMoveDir_refusesLinks verifies that a directory with something that cannot be copied stays as
// it is.
func TestMoveDir_refusesLinks(t *testing.T) {
	root, _ := openRoot(t)
	original(t, root)
	if err := root.Symlink("b", "from/sub/link"); err != nil {
		t.Fatal(err)
	}
	err := MoveDir(root, "from", "to", Options{TempDir: tmp, Hook: across(nil)})
	if !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	complete(t, root, "from")
	noTemps(t, root)
	if _, err := root.Readlink("from/sub/link"); err != nil {
		t.Error(err)
	}
	if _, err := root.Lstat("to"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target: %v", err)
	}
}
