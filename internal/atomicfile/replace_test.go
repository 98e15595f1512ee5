package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/git-jp/git-jp/internal/regular"
)

// before runs f once, at a step of some kind.
func before(at Step, f func()) func(Step, string) error {
	var once sync.Once
	return func(s Step, _ string) error {
		if s == at {
			once.Do(f)
		}
		return nil
	}
}

// renames calls f before each rename or exchange with its number, from 1 on. If files cannot be
// exchanged, there is only one.
type renames struct {
	n int
	f func(n int) error
}

func (r *renames) hook(s Step, _ string) error {
	if s != StepRename {
		return nil
	}
	r.n++
	return r.f(r.n)
}

func TestReplace(t *testing.T) {
	tests := []struct {
		name      string
		there     string // "" for no file
		old, want string
		err       error
	}{
		{"as known", "old", "old", "new", nil},
		{"other bytes", "odd", "old", "odd", ErrChanged},
		{"longer", "older", "old", "older", ErrChanged},
		{"shorter", "ol", "old", "ol", ErrChanged},
		{"gone", "", "old", "new", nil},
		{"none", "", "", "new", nil},
		{"none expected", "old", "", "old", ErrChanged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, dir := openRoot(t)
			if tt.there != "" {
				writeFile(t, filepath.Join(dir, "x"), tt.there)
			}
			var old []byte
			if tt.old != "" {
				old = []byte(tt.old)
			}
			err := Replace(root, "x", old, []byte("new"), Options{TempDir: tmp})
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if got := readFile(t, root, "x"); got != tt.want {
				t.Errorf("content %q, want %q", got, tt.want)
			}
			noTemps(t, root)
		})
	}
}

func writeFile(t *testing.T, name, data string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReplaceBy grows a file by giving only its new part.
func TestReplaceBy(t *testing.T) {
	for _, tt := range []struct {
		same       int
		rest, want string
	}{{0, "new", "new"}, {2, "new", "olnew"}, {3, "er", "older"}, {1, "", "o"}} {
		root, dir := openRoot(t)
		x := filepath.Join(dir, "x")
		writeFile(t, x, "old")
		opts := Options{TempDir: tmp}
		change := Change{[]byte("old"), tt.same, []byte(tt.rest)}
		err := ReplaceBy(root, "x", change, opts)
		if got := readFile(t, root, "x"); got != tt.want || err != nil {
			t.Errorf("%d bytes and %q: content %q, error %v", tt.same, tt.rest, got, err)
		}
		writeFile(t, x, "old")
		opts.Hook = before(StepRename, func() { writeFile(t, x, "odd") })
		err = ReplaceBy(root, "x", change, opts)
		leftAs(t, root, "x", "odd", err)
	}
}

// An empty file differs from a missing one.
func TestReplace_empty(t *testing.T) {
	root, dir := openRoot(t)
	writeFile(t, filepath.Join(dir, "x"), "")
	if err := Replace(root, "x", []byte{}, []byte("new"), Options{TempDir: tmp}); err != nil {
		t.Error(err)
	}
	writeFile(t, filepath.Join(dir, "y"), "")
	err := Replace(root, "y", nil, []byte("new"), Options{TempDir: tmp})
	if !errors.Is(err, ErrChanged) {
		t.Errorf("error %v", err)
	}
}

// TestReplace_changedMeanwhile changes the file right before each step, in place and by a rename.
func TestReplace_changedMeanwhile(t *testing.T) {
	ways := map[string]func(t *testing.T, dir string){
		"in place": func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "d/x"), "odd") },
		"renamed": func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "d/y"), "odd")
			if err := os.Rename(filepath.Join(dir, "d/y"), filepath.Join(dir, "d/x")); err != nil {
				t.Error(err)
			}
		},
	}
	for _, at := range []Step{StepCreate, StepWrite, StepSync, StepClose, StepRename} {
		for name, change := range ways {
			t.Run(string(at)+" "+name, func(t *testing.T) {
				root, dir := openRoot(t)
				if err := root.Mkdir("d", 0o755); err != nil {
					t.Fatal(err)
				}
				writeFile(t, filepath.Join(dir, "d/x"), "old")
				opts := Options{TempDir: tmp, Hook: before(at, func() { change(t, dir) })}
				err := Replace(root, "d/x", []byte("old"), []byte("new"), opts)
				leftAs(t, root, "d/x", "odd", err)
			})
		}
	}
}

// TestReplace_changedTwice checks that a file that is replaced again, after the exchange and before
// it is undone, keeps the later version.
func TestReplace_changedTwice(t *testing.T) {
	root, dir := openRoot(t)
	x := filepath.Join(dir, "x")
	writeFile(t, x, "old")
	r := renames{f: func(n int) error {
		if n > 2 {
			return nil
		}
		writeFile(t, x+".tmp", fmt.Sprint("od", n))
		return os.Rename(x+".tmp", x)
	}}
	err := Replace(root, "x", []byte("old"), []byte("new"), Options{TempDir: tmp, Hook: r.hook})
	if r.n == 1 {
		leftAs(t, root, "x", "od1", err)
		return
	}
	keptBoth(t, root, "od2", "od1", err)
}

// keptBoth fails unless the file x has one version, and the file that the error names the other.
func keptBoth(t *testing.T, root *os.Root, want, beside string, err error) {
	t.Helper()
	aside, ok := errors.AsType[*AsideError](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	if got := readFile(t, root, "x"); got != want {
		t.Errorf("content %q, want %q", got, want)
	}
	if got := readFile(t, root, aside.Aside); got != beside {
		t.Errorf("%s holds %q, want %q", aside.Aside, got, beside)
	}
	noTemps(t, root)
}

// TestReplace_changedInPlaceTwice checks that writes to the new file before the exchange is undone
// are kept too.
func TestReplace_changedInPlaceTwice(t *testing.T) {
	root, dir := openRoot(t)
	x := filepath.Join(dir, "x")
	writeFile(t, x, "old")
	r := renames{f: func(n int) error {
		if n <= 2 {
			writeFile(t, x, fmt.Sprint("od", n))
		}
		return nil
	}}
	err := Replace(root, "x", []byte("old"), []byte("new"), Options{TempDir: tmp, Hook: r.hook})
	if r.n == 1 {
		t.Skip("files cannot be exchanged here")
	}
	keptBoth(t, root, "od2", "od1", err)
}

// TestReplace_goneBeforePutBack removes the directory before the exchange is undone.
func TestReplace_goneBeforePutBack(t *testing.T) {
	root, dir := openRoot(t)
	if err := root.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	x := filepath.Join(dir, "d/x")
	writeFile(t, x, "old")
	r := renames{f: func(n int) error {
		switch n {
		case 1:
			writeFile(t, x, "odd")
		case 2:
			return os.RemoveAll(filepath.Join(dir, "d"))
		}
		return nil
	}}
	err := Replace(root, "d/x", []byte("old"), []byte("new"), Options{TempDir: tmp, Hook: r.hook})
	leftAs(t, root, "d/x", "odd", err)
}

// TestReplace_notMadeAgain checks that an error of Gone keeps a removed file from being written
// again.
func TestReplace_notMadeAgain(t *testing.T) {
	root, _ := openRoot(t)
	moved := errors.New("it was moved")
	opts := Options{TempDir: tmp, Gone: func() error { return moved }}
	if err := Replace(root, "x", []byte("old"), []byte("new"), opts); !errors.Is(err, moved) {
		t.Errorf("error %v", err)
	}
	if _, err := root.Lstat("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("x: %v", err)
	}
	noTemps(t, root)
}

// leftAs fails unless the file of another program was not changed.
func leftAs(t *testing.T, root *os.Root, name, want string, err error) {
	t.Helper()
	if !errors.Is(err, ErrChanged) {
		t.Errorf("error %v", err)
	}
	if got := readFile(t, root, name); got != want {
		t.Errorf("content %q, want %q", got, want)
	}
	noTemps(t, root)
}

// TestReplace_notPutBack checks that another program's file that cannot be exchanged back is not
// removed.
func TestReplace_notPutBack(t *testing.T) {
	root, dir := openRoot(t)
	x := filepath.Join(dir, "x")
	writeFile(t, x, "old")
	r := renames{f: func(n int) error {
		if n == 1 {
			writeFile(t, x, "odd")
			return nil
		}
		return syscall.EROFS
	}}
	err := Replace(root, "x", []byte("old"), []byte("new"), Options{TempDir: tmp, Hook: r.hook})
	if r.n < 2 {
		t.Skip("files cannot be exchanged here")
	}
	if !errors.Is(err, syscall.EROFS) {
		t.Errorf("error %v", err)
	}
	entries, listErr := fs.ReadDir(root.FS(), tmp)
	if listErr != nil || len(entries) != 1 {
		t.Fatalf("temporaries %v, %v", entries, listErr)
	}
	left := tmp + "/" + entries[0].Name()
	if got := readFile(t, root, left); got != "odd" || !strings.Contains(err.Error(), left) {
		t.Errorf("%s holds %q, error %v", left, got, err)
	}
}

// TestReplace_goneMeanwhile removes the directory, and the file in it, at the last moment: nothing
// is lost.
func TestReplace_goneMeanwhile(t *testing.T) {
	root, dir := openRoot(t)
	if err := root.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "d/x"), "old")
	opts := Options{TempDir: tmp, Hook: before(StepRename, func() {
		if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
			t.Error(err)
		}
	})}
	if err := Replace(root, "d/x", []byte("old"), []byte("new"), opts); err != nil {
		t.Error(err)
	}
	if got := readFile(t, root, "d/x"); got != "new" {
		t.Errorf("content %q", got)
	}
	noTemps(t, root)
}

func TestReplace_notRegular(t *testing.T) {
	root, dir := openRoot(t)
	writeFile(t, filepath.Join(dir, "target"), "old")
	if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := root.Mkdir("dir", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "dir"} {
		err := Replace(root, name, []byte("old"), []byte("new"), Options{TempDir: tmp})
		if !errors.Is(err, regular.ErrNot) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if got := readFile(t, root, "target"); got != "old" {
		t.Errorf("content %q", got)
	}
	noTemps(t, root)
}

func TestRemove(t *testing.T) {
	for there, want := range map[string]error{"old": nil, "odd": ErrChanged, "older": ErrChanged} {
		root, dir := openRoot(t)
		writeFile(t, filepath.Join(dir, "x"), there)
		if err := Remove(root, "x", []byte("old"), Options{TempDir: tmp}); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", there, err, want)
		}
		if _, err := root.Lstat("x"); errors.Is(err, fs.ErrNotExist) != (want == nil) {
			t.Errorf("%s: the file: %v", there, err)
		}
		noTemps(t, root)
	}
}

// TestRemove_changedMeanwhile changes the file at the last moment.
func TestRemove_changedMeanwhile(t *testing.T) {
	root, dir := openRoot(t)
	writeFile(t, filepath.Join(dir, "x"), "old")
	hook := before(StepRename, func() { writeFile(t, filepath.Join(dir, "x"), "odd") })
	err := Remove(root, "x", []byte("old"), Options{TempDir: tmp, Hook: hook})
	leftAs(t, root, "x", "odd", err)
}

// TestReplace_failureAtEveryStep fails every step once: the file has the old bytes or the new ones,
// and no temporary is left.
func TestReplace_failureAtEveryStep(t *testing.T) {
	for n := 1; ; n++ {
		root, dir := openRoot(t)
		writeFile(t, filepath.Join(dir, "x"), "old")
		j := journal{failAt: n, err: syscall.ENOSPC}
		opts := Options{TempDir: tmp, Hook: j.hook}
		err := Replace(root, "x", []byte("old"), []byte("new"), opts)
		if len(j.steps) < n {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		failed := j.steps[n-1]
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: error %v", failed, err)
		}
		late := failed == "syncdir ." && n == len(j.steps) && readFile(t, root, "x") == "new"
		if got := readFile(t, root, "x"); got != "old" && !late {
			t.Errorf("%s: content %q", failed, got)
		}
		noTemps(t, root)
	}
}

// TestReplace_manyAtOnce checks that several writers that replace what they read lose no line of
// each other.
func TestReplace_manyAtOnce(t *testing.T) {
	root, dir := openRoot(t)
	writeFile(t, filepath.Join(dir, "x"), "begin\n")
	const writers, lines = 8, 20
	add := func(line string) error {
		for {
			old, err := root.ReadFile("x")
			if err != nil {
				return err
			}
			now := append(old[:len(old):len(old)], line...)
			err = Replace(root, "x", old, now, Options{TempDir: tmp, NoSync: true})
			if !errors.Is(err, ErrChanged) {
				return err
			}
		}
	}
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for n := range lines {
				if err := add(fmt.Sprintf("line %d of %d\n", n, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := strings.Count(readFile(t, root, "x"), "\n"); got != 1+writers*lines {
		t.Errorf("%d lines, want %d", got, 1+writers*lines)
	}
	noTemps(t, root)
}

// A file that a killed process left under a marked name may be the only copy of another program's
// version.
func TestReplace_keepsWhatIsMarked(t *testing.T) {
	root, dir := openRoot(t)
	writeFile(t, filepath.Join(dir, "x"), "old")
	if err := root.MkdirAll(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	left := fmt.Sprintf("%s/%sx.%d.0", tmp, Marked, os.Getpid())
	writeFile(t, filepath.Join(dir, left), "theirs")
	if err := Replace(root, "x", []byte("old"), []byte("new"), Options{TempDir: tmp}); err != nil {
		t.Error(err)
	}
	if err := Remove(root, "x", []byte("new"), Options{TempDir: tmp}); err != nil {
		t.Error(err)
	}
	entries, err := fs.ReadDir(root.FS(), tmp)
	if err != nil || len(entries) != 1 || readFile(t, root, left) != "theirs" {
		t.Errorf("temporaries %v, %v", entries, err)
	}
}
