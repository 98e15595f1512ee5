package quarantine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	// The workspace may be reached through a link.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(q.Root, link); err != nil {
		t.Skip(err)
	}
	for _, behind := range []quarantine.Quarantine{
		{Dir: q.Dir, Root: link}, {Dir: filepath.Join(link, ".git", "jp", "trash"), Root: q.Root},
	} {
		if all, err := behind.Items(); err != nil || len(all) != 1 {
			t.Errorf("behind a link: %v, %v", all, err)
		}
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

// TestItemsOfOthers lists items by their age, and tells what another version made.
func TestItemsOfOthers(t *testing.T) {
	q := quarantine.Quarantine{Dir: filepath.Join(t.TempDir(), "trash"), Root: t.TempDir()}
	if dirs, err := q.Unknown(); err != nil || len(dirs) != 0 {
		t.Errorf("nothing is there: %q, %v", dirs, err)
	}
	var want []string
	for n, kind := range []quarantine.Kind{quarantine.Repaired, quarantine.Compacted, quarantine.Redacted} {
		if n == 1 {
			continue
		}
		k := quarantine.Keeper{Quarantine: q, Kind: kind, Now: func() time.Time { return at(9 - n) }}
		if err := k.Keep("a", nil); err != nil {
			t.Fatal(err)
		}
		want = append([]string{k.Name()}, want...)
	}
	was, is, store := conversation(t)
	a, err := q.Put(quarantine.Change{ID: id, At: at(8), Was: was, Is: is, Contents: store})
	if err != nil {
		t.Fatal(err)
	}
	want = []string{want[0], a.Name, want[1]}
	all, err := q.Items()
	var got []string
	for _, item := range all {
		got = append(got, item.Name)
	}
	if err != nil || !slices.Equal(got, want) || all[1].Conversation != id || all[0].Conversation != 0 ||
		all[1].Files != 3 { // the conversation before and after, and a content
		t.Errorf("items are %+v (%v), want %q", all, err, want)
	}
	if dirs, err := q.Unknown(); err != nil || len(dirs) != 0 {
		t.Errorf("of another version are %q, %v", dirs, err)
	}
	for name, text := range map[string]string{
		"later":    `{"version":2,"kind":"repair","workspace":"W"}`,
		"kind":     `{"version":1,"kind":"future","workspace":"W"}`,
		"redacted": `{"version":2,"kind":"redacted","workspace":"W"}`,
		"other":    `{"version":2,"kind":"repair","workspace":"../elsewhere"}`,
		"none":     `{"kind":"repair","workspace":"W"}`,
	} {
		dir := filepath.Join(q.Dir, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		own, err := filepath.Rel(q.Dir, q.Root)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.Replace(text, "W", filepath.ToSlash(own), 1)
		if err := os.WriteFile(filepath.Join(dir, "aside.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want = []string{filepath.Join(q.Dir, "kind"), filepath.Join(q.Dir, "later")}
	if dirs, err := q.Unknown(); err != nil || !slices.Equal(dirs, want) {
		t.Errorf("of another version are %q (%v), want %q", dirs, err, want)
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
		items, err := q.Items()
		if whole := len(q.Copies(id)); err != nil || whole != 1-n || len(items) != whole {
			t.Errorf("step %d: %d copies, items %v, %v", n, whole, items, err)
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
	defer root.Close() // a test's
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

// TestPutBackInPart checks that a place which is taken keeps only what belongs there.
func TestPutBackInPart(t *testing.T) {
	q := quarantine.Quarantine{Dir: filepath.Join(t.TempDir(), "trash"), Root: t.TempDir()}
	k := quarantine.Keeper{Quarantine: q, Now: func() time.Time { return at(0) }}
	for _, name := range []string{"a/one", "a/more/two", "ab/three"} {
		if err := k.Keep(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(q.Root)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() // a test's
	if err := root.Mkdir("a", 0o755); err != nil {
		t.Fatal(err)
	}
	all, err := q.Items()
	if err != nil {
		t.Fatal(err)
	}
	res, err := all[0].PutBack(root, ".tmp")
	if err != nil || !slices.Equal(res.Files, []string{"ab/three"}) || !slices.Equal(res.Kept, []string{"a/one", "a/more/two"}) {
		t.Errorf("%+v, %v", res, err)
	}
	if again, err := q.Items(); err != nil || len(again) != 1 || !q.Has([]byte("a/one")) {
		t.Errorf("what is not back is lost: %v, %v", again, err)
	}
}
