package quarantine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/quarantine"
)

const (
	day  = 24 * time.Hour
	twig = ".jp/conversations/17000000001-one"
)

// quarantined quarantines two files of a workspace in which they do not exist.
func quarantined(t *testing.T) (quarantine.Quarantine, quarantine.Item) {
	t.Helper()
	root := t.TempDir()
	q := quarantine.Quarantine{
		Dir: filepath.Join(root, ".git", "jp", "trash"), Root: root, Keep: 14 * day,
	}
	k := quarantine.Keeper{Quarantine: q, Now: func() time.Time { return at(0) }, PID: 7}
	for _, name := range []string{twig + "/events.json", twig + "/more/notes.txt"} {
		if err := k.Keep(name, []byte("text of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := q.Items()
	if err != nil || len(all) != 1 {
		t.Fatalf("items %v, %v", all, err)
	}
	return q, all[0]
}

func TestAside(t *testing.T) {
	q, a := quarantined(t)
	if a.Name != "repair-20260101T000000.000Z-7" || a.Kind != quarantine.Repaired || a.Files != 2 ||
		!a.At.Equal(at(0)) || !a.Until.Equal(at(0).Add(14*day)) || a.Bytes != 109 {
		t.Errorf("%+v", a)
	}
	// A run of garbage collection, and the files of an earlier version, are not listed.
	for _, name := range []string{"20260101T000000.000Z-1/files", "repair-old/.jp"} {
		if err := os.MkdirAll(filepath.Join(q.Dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := q.Items(); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	// Items of another workspace are not listed either, but they expire too.
	q.Root = t.TempDir()
	if all, err := q.Items(); err != nil || len(all) != 0 {
		t.Errorf("of another: %v, %v", all, err)
	}
	if old, err := q.Expired(at(0).Add(15*day), 0); err != nil || len(old) != 1 {
		t.Errorf("of another: %v, %v", old, err)
	}
}

// TestExpired checks that nothing is removed before the promised time, however short the grace
// period is, nor before the end of the grace period, however short the promise was.
func TestExpired(t *testing.T) {
	q, _ := quarantined(t)
	for _, tt := range []struct {
		after, grace time.Duration
		want         int
	}{
		{14 * day, 0, 0},
		{14*day + 1, 0, 1},
		{15 * day, 14 * day, 1},
		{15 * day, 15 * day, 0},
		{16 * day, 15 * day, 1},
		{-day, 0, 0},
	} {
		old, err := q.Expired(at(0).Add(tt.after), tt.grace)
		if err != nil || len(old) != tt.want {
			t.Errorf("after %v, grace %v: %v, %v", tt.after, tt.grace, old, err)
		}
	}
}

// TestEraseMayFail lets a removal fail at each step: the rest is not taken for a copy and is
// removed with the next item.
func TestEraseMayFail(t *testing.T) {
	broken := errors.New("broken")
	for n := range 2 {
		was, is, store := conversation(t)
		steps := 0
		q := quarantine.Quarantine{Dir: t.TempDir()}
		if _, err := q.Put(quarantine.Change{
			ID: id, At: at(0), Was: was, Is: is, Contents: store,
		}); err != nil {
			t.Fatal(err)
		}
		q.Hook = func(atomicfile.Step, string) error {
			if steps++; steps == n+1 {
				return broken
			}
			return nil
		}
		expire := func() error {
			old, err := q.Expired(at(1), 0)
			if err != nil || len(old) != 1 {
				t.Fatalf("step %d: expired %v, %v", n, old, err)
			}
			return old[0].Erase()
		}
		if err := expire(); !errors.Is(err, broken) {
			t.Fatalf("step %d: %v", n, err)
		}
		if whole := len(q.Copies(id)); whole != 1-n {
			t.Errorf("step %d: %d copies", n, whole)
		}
		if err := expire(); err != nil {
			t.Errorf("step %d, again: %v", n, err)
		}
		if left, err := os.ReadDir(q.Dir); err != nil || len(left) != 0 {
			t.Errorf("step %d: left %v, %v", n, left, err)
		}
	}
}

// TestEraseBehindALink removes an item where a person has put the quarantine elsewhere.
func TestEraseBehindALink(t *testing.T) {
	was, is, store := conversation(t)
	to := t.TempDir()
	q := quarantine.Quarantine{Dir: filepath.Join(t.TempDir(), "trash")}
	if err := os.Symlink(to, q.Dir); err != nil {
		t.Skip(err)
	}
	if _, err := q.Put(quarantine.Change{
		ID: id, At: at(0), Was: was, Is: is, Contents: store,
	}); err != nil {
		t.Fatal(err)
	}
	old, err := q.Expired(at(1), 0)
	if err != nil || len(old) != 1 {
		t.Fatalf("expired %v, %v", old, err)
	}
	if err := old[0].Erase(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(to); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestEraseIsMoved is TestEraseMayFail where the directory of an item cannot be renamed, and is moved
// by copying it.
func TestEraseIsMoved(t *testing.T) {
	broken := errors.New("broken")
	for n, ended := 0, false; !ended; n++ {
		was, is, store := conversation(t)
		q := quarantine.Quarantine{Dir: filepath.Join(t.TempDir(), "trash")}
		if _, err := q.Put(quarantine.Change{
			ID: id, At: at(0), Was: was, Is: is, Contents: store,
		}); err != nil {
			t.Fatal(err)
		}
		expire := func(failing int) error {
			steps, moved := 0, false
			q.Hook = func(step atomicfile.Step, _ string) error {
				if step == atomicfile.StepRename && !moved {
					moved = true
					return syscall.EXDEV
				}
				if steps++; steps == failing {
					return broken
				}
				return nil
			}
			old, err := q.Expired(at(1), 0)
			if err != nil || len(old) != 1 {
				t.Fatalf("step %d: expired %v, %v", n, old, err)
			}
			return old[0].Erase()
		}
		err := expire(n + 1)
		if ended = err == nil; !ended {
			if !errors.Is(err, broken) {
				t.Fatalf("step %d: %v", n, err)
			}
			for _, c := range q.Copies(id) {
				if old, err := filepath.Glob(filepath.Join(q.Dir, "expired-*")); err != nil || len(old) > 0 {
					t.Errorf("step %d: %v is a copy beside %v, %v", n, c, old, err)
				}
			}
			if err := expire(0); err != nil {
				t.Errorf("step %d, again: %v", n, err)
			}
		}
		for _, dir := range []string{q.Dir, filepath.Join(filepath.Dir(q.Dir), "tmp")} {
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("step %d: left %v, %v", n, left, err)
			}
		}
	}
}

func TestPutBack(t *testing.T) {
	q, a := quarantined(t)
	root, err := os.OpenRoot(q.Root)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // a test's
	if err := root.MkdirAll(twig, 0o755); err != nil {
		t.Fatal(err)
	}
	res, err := a.PutBack(root, ".jp/blobs/.tmp")
	if err != nil || len(res.Files) != 0 || len(res.Kept) != 2 {
		t.Errorf("over another: %+v, %v", res, err)
	}
	if left, err := root.Open(twig); err != nil {
		t.Error(err)
	} else if names, _ := left.Readdirnames(-1); len(names) != 0 {
		t.Errorf("put into the place of another: %v", names)
	}
	if err := root.Remove(twig); err != nil {
		t.Fatal(err)
	}
	res, err = a.PutBack(root, ".jp/blobs/.tmp")
	want := []string{twig + "/events.json", twig + "/more/notes.txt"}
	if err != nil || !slices.Equal(res.Files, want) || len(res.Kept) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	for _, name := range want {
		if data, err := root.ReadFile(name); err != nil || string(data) != "text of "+name {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if all, err := q.Items(); err != nil || len(all) != 0 {
		t.Errorf("left %v, %v", all, err)
	}
}
