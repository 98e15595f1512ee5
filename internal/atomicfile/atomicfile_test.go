package atomicfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const tmp = "state/.tmp"

func openRoot(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func readFile(t *testing.T, root *os.Root, name string) string {
	t.Helper()
	b, err := root.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// noTemps fails if a temporary is left.
func noTemps(t *testing.T, root *os.Root) {
	t.Helper()
	entries, err := fs.ReadDir(root.FS(), tmp)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("temporary %s is left", e.Name())
	}
}

// journal is a hook that records the steps, and fails at one of them.
type journal struct {
	mu     sync.Mutex
	steps  []string
	failAt int // 1 is the first step; 0 never
	err    error
}

func (j *journal) hook(s Step, name string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.steps = append(j.steps, string(s)+" "+name)
	if len(j.steps) == j.failAt {
		return &fs.PathError{Op: string(s), Path: name, Err: j.err}
	}
	return nil
}

func TestWrite(t *testing.T) {
	root, _ := openRoot(t)
	big := string(bytes.Repeat([]byte("0123456789abcdef"), 200_000)) // several chunks
	for _, content := range []string{"one", "", big, "two"} {
		if err := Write(root, "a/b/c.json", []byte(content), Options{TempDir: tmp}); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, root, "a/b/c.json"); got != content {
			t.Errorf("read %d bytes, want %d", len(got), len(content))
		}
	}
	noTemps(t, root)
}

// TestWrite_steps checks the promised order: bytes are durable before the file is published, the
// new name before Write returns, and every directory with a new entry is synced.
func TestWrite_steps(t *testing.T) {
	root, _ := openRoot(t)
	var j journal
	opts := Options{TempDir: tmp, Hook: j.hook}
	if err := Write(root, "a/b/c", []byte("x"), opts); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range j.steps {
		if i := strings.Index(s, tmp+"/c."); i >= 0 {
			s = s[:i] + "TEMP"
		}
		got = append(got, s)
	}
	want := []string{
		"create TEMP", "mkdir state/.tmp", "mkdir state", "mkdir state/.tmp",
		"syncdir .", "syncdir state",
		"create TEMP", "write TEMP", "sync TEMP", "close TEMP",
		"rename a/b/c", "mkdir a/b", "mkdir a", "mkdir a/b", "rename a/b/c",
		"syncdir .", "syncdir a", "syncdir a/b",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}

	j = journal{}
	opts.NoSync = true
	if err := Write(root, "a/b/c", []byte("x"), opts); err != nil {
		t.Fatal(err)
	}
	for _, s := range j.steps {
		if strings.HasPrefix(s, "sync") {
			t.Errorf("NoSync: %s", s)
		}
	}
}

func TestWrite_permissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	root, dir := openRoot(t)
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	fresh := mode(t, probe) // 0o644 less the umask
	tests := []struct {
		name  string
		start fs.FileMode // of an existing file, 0 for none
		perm  fs.FileMode
		want  fs.FileMode
	}{
		{"new", 0, 0, fresh},
		{"new, given", 0, 0o600, 0o600},
		{"kept", 0o640, 0, 0o640},
		{"kept, wider than the umask", 0o666, 0, 0o666},
		{"kept, read-only", 0o444, 0, 0o444},
		{"kept, executable", 0o755, 0, 0o755},
		{"changed", 0o666, 0o600, 0o600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := strings.ReplaceAll(tt.name, " ", "-")
			path := filepath.Join(dir, name)
			if tt.start != 0 {
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, tt.start); err != nil {
					t.Fatal(err)
				}
			}
			opts := Options{TempDir: tmp, Perm: tt.perm}
			if err := Write(root, name, []byte("new"), opts); err != nil {
				t.Fatal(err)
			}
			if got := mode(t, path); got != tt.want {
				t.Errorf("mode %o, want %o", got, tt.want)
			}
			if got := readFile(t, root, name); got != "new" {
				t.Errorf("content %q", got)
			}
		})
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// TestWrite_failureAtEveryStep fails every step once, with the error of a full disk and of a
// read-only one.
func TestWrite_failureAtEveryStep(t *testing.T) {
	for _, errno := range []error{syscall.ENOSPC, syscall.EROFS} {
		for n := 1; ; n++ {
			root, _ := openRoot(t)
			if err := root.Mkdir("d", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := root.WriteFile("d/old", []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := root.Chmod("d/old", 0o666); err != nil { // so that there is a chmod
				t.Fatal(err)
			}
			j := journal{failAt: n, err: errno}
			opts := Options{TempDir: tmp, Hook: j.hook}
			err := Write(root, "d/old", bytes.Repeat([]byte("n"), chunk+1), opts)
			if len(j.steps) < n {
				if err != nil {
					t.Fatal(err)
				}
				break // no step is left
			}
			failed := j.steps[n-1]
			if !errors.Is(err, errno) || !strings.Contains(err.Error(), `write "d/old"`) {
				t.Errorf("%s: error %v", failed, err)
			}
			late := failed == "syncdir d"
			if got := readFile(t, root, "d/old"); (got == "old") == late {
				t.Errorf("%s: %d bytes in the file", failed, len(got))
			}
			noTemps(t, root)
		}
	}
}

func TestWrite_refusesBadNames(t *testing.T) {
	root, _ := openRoot(t)
	for _, name := range []string{"", ".", "..", "../x", "/x", "a/../../x", "a/", `a//b`} {
		err := Write(root, name, nil, Options{TempDir: tmp})
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, dir := range []string{"", "../x", "/x"} {
		err := Write(root, "x", nil, Options{TempDir: dir})
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("TempDir %q: %v", dir, err)
		}
	}
}

func TestWrite_overDirectory(t *testing.T) {
	root, _ := openRoot(t)
	if err := root.MkdirAll("d/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(root, "d", []byte("x"), Options{TempDir: tmp}); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if _, err := root.Stat("d/sub"); err != nil {
		t.Error(err)
	}
	noTemps(t, root)
}

func TestWrite_sameNameFromManyGoroutines(t *testing.T) {
	root, _ := openRoot(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			content := bytes.Repeat([]byte{byte('a' + i)}, 10_000)
			for range 20 {
				if err := Write(root, "x", content, Options{TempDir: tmp}); err != nil {
					t.Error(err)
				}
				got, err := root.ReadFile("x")
				if err != nil || len(got) != len(content) || bytes.Count(got, got[:1]) != len(got) {
					t.Errorf("read %d bytes, %v", len(got), err)
				}
			}
		})
	}
	wg.Wait()
	noTemps(t, root)
}

// TestSyncsAreMade checks that syncs are made, which no file shows: syncing a closed file fails.
func TestSyncsAreMade(t *testing.T) {
	root, _ := openRoot(t)
	w := writer{root: root, opts: Options{TempDir: tmp}}
	f, err := w.createTemp("x")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.settle(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("file: %v", err)
	}
	if err := fsyncDir(f.file); !errors.Is(err, fs.ErrClosed) && runtime.GOOS != "windows" {
		t.Errorf("directory: %v", err)
	}
}

// TestWrite_parentRemovedMeanwhile removes an empty parent before the directory in it is created.
func TestWrite_parentRemovedMeanwhile(t *testing.T) {
	for _, name := range []string{"a/b/c", "a/b/d/c"} {
		root, dir := openRoot(t)
		made := 0
		hook := func(s Step, step string) error {
			if s != StepMkdir || step != "a/b" {
				return nil
			}
			if made++; made != 2 {
				return nil
			}
			return os.Remove(filepath.Join(dir, "a"))
		}
		if err := Write(root, name, []byte("x"), Options{TempDir: tmp, Hook: hook}); err != nil {
			t.Error(err)
		}
		if made < 3 {
			t.Errorf("%s: a/b was made %d times", name, made)
		}
	}
}

// TestWrite_directoryRemovedMeanwhile removes directories during a write, as git and collectors
// remove empty ones.
func TestWrite_directoryRemovedMeanwhile(t *testing.T) {
	for _, at := range []Step{StepRename, StepSyncDir} {
		root, dir := openRoot(t)
		if err := root.MkdirAll("a/b", 0o755); err != nil {
			t.Fatal(err)
		}
		removed := false
		hook := func(s Step, name string) error {
			if s == at && !removed && strings.HasPrefix(name, "a/b") {
				removed = true
				return os.RemoveAll(filepath.Join(dir, "a"))
			}
			return nil
		}
		if err := Write(root, "a/b/c", []byte("x"), Options{TempDir: tmp, Hook: hook}); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		if _, err := root.Stat("a/b/c"); removed && (err == nil) != (at == StepRename) {
			t.Errorf("%s: %v", at, err)
		}
		if !removed {
			t.Errorf("%s: not met", at)
		}
		noTemps(t, root)
	}
}

// TestWrite_withoutModes replaces files on a file system that gives all files the same permissions:
// chmod fails there, also if it would change nothing.
func TestWrite_withoutModes(t *testing.T) {
	root, dir := openRoot(t)
	var same fs.FileMode
	opts := Options{TempDir: tmp, Hook: func(s Step, name string) error {
		if s != StepChmod {
			return nil
		}
		failed := &fs.PathError{Op: string(s), Path: name, Err: fs.ErrPermission}
		return errors.Join(failed, os.Chmod(filepath.Join(dir, name), same))
	}}
	for _, content := range []string{"one", "two"} {
		if err := Write(root, "file", []byte(content), opts); err != nil {
			t.Fatal(err)
		}
		info, err := root.Stat("file")
		if err != nil {
			t.Fatal(err)
		}
		same = info.Mode().Perm()
	}
	same ^= 0o100
	if err := Write(root, "file", []byte("three"), opts); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("with other permissions: got %v, want %v", err, fs.ErrPermission)
	}
	if got := readFile(t, root, "file"); got != "two" {
		t.Errorf("got %q, want %q", got, "two")
	}
	noTemps(t, root)
}

// TestErrorsNameThePath: an error says where the file is that could not be made.
func TestErrorsNameThePath(t *testing.T) {
	root, dir := openRoot(t)
	if err := os.WriteFile(filepath.Join(dir, "taken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	opts := Options{TempDir: "taken"}
	group := NewGroup(root, opts)
	for what, err := range map[string]error{
		"Write":   Write(root, "new", []byte("x"), opts),
		"Replace": Replace(root, "new", nil, []byte("x"), opts),
		"Group":   errors.Join(group.Add("new", []byte("x")), group.Commit()),
	} {
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "taken")) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
