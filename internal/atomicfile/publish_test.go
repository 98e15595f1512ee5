package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"testing"
)

// build creates a temporary directory with two files, one in a subdirectory.
func build(t *testing.T, root *os.Root, opts Options) string {
	t.Helper()
	opts.Hook = nil
	dir, err := MkdirTemp(root, "17838-title", opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/events.json", "/sub/b"} {
		if err := WriteNew(root, dir+name, []byte(name), opts); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPublishDir(t *testing.T) {
	root, _ := openRoot(t)
	var j journal
	opts := Options{TempDir: tmp, Hook: j.hook}
	dir := build(t, root, opts)
	if err := PublishDir(root, dir, "conv/x", opts); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, root, "conv/x/sub/b"); got != "/sub/b" {
		t.Errorf("content %q", got)
	}
	noTemps(t, root)
	want := []string{
		"syncdir .", "sync events.json", "syncdir sub", "sync sub/b", "rename conv/x", "mkdir conv", "rename conv/x",
		"syncdir .", "syncdir conv",
	}
	if !slices.Equal(j.steps, want) {
		t.Errorf("got  %q\nwant %q", j.steps, want)
	}
}

// TestWriteNew checks that a file of a directory that is not published is not renamed or synced, and
// that no file is replaced.
func TestWriteNew(t *testing.T) {
	root, _ := openRoot(t)
	var j journal
	opts := Options{TempDir: tmp, Hook: j.hook}
	if err := WriteNew(root, "a/x", []byte("one"), opts); err != nil {
		t.Fatal(err)
	}
	want := []string{"create a/x", "mkdir a", "create a/x", "write a/x", "close a/x"}
	if !slices.Equal(j.steps, want) {
		t.Errorf("got  %q\nwant %q", j.steps, want)
	}
	if err := WriteNew(root, "a/x", []byte("two"), opts); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file: %v", err)
	}
	if err := WriteNew(root, "../x", nil, opts); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a file outside: %v", err)
	}
	if got := readFile(t, root, "a/x"); got != "one" {
		t.Errorf("content %q", got)
	}
}

func TestPublishDir_neverReplaces(t *testing.T) {
	root, _ := openRoot(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(root.Mkdir("empty", 0o755))
	must(root.MkdirAll("full/inner", 0o755))
	must(root.WriteFile("file", []byte("old"), 0o644))
	must(root.Symlink("nowhere", "link"))
	opts := Options{TempDir: tmp}
	dir := build(t, root, opts)
	for _, name := range []string{"empty", "full", "file", "link"} {
		if err := PublishDir(root, dir, name, opts); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The directory still exists for another name.
	must(PublishDir(root, dir, "free", opts))
	if got := readFile(t, root, "free/events.json"); got != "/events.json" {
		t.Errorf("content %q", got)
	}
	if got := readFile(t, root, "file"); got != "old" {
		t.Errorf("file holds %q", got)
	}
}

func TestPublishDir_failureAtEveryStep(t *testing.T) {
	for n := 1; ; n++ {
		root, _ := openRoot(t)
		j := journal{failAt: n, err: syscall.ENOSPC}
		opts := Options{TempDir: tmp, Hook: j.hook}
		dir := build(t, root, opts)
		err := PublishDir(root, dir, "conv/x", opts)
		if len(j.steps) < n {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", j.steps[n-1], err)
		}
		where := dir
		if n > 7 { // after the second rename, which follows creating its directory
			where = "conv/x"
		}
		if got := readFile(t, root, where+"/sub/b"); got != "/sub/b" {
			t.Errorf("%s: content %q", j.steps[n-1], got)
		}
	}
}

func TestPublishDir_refusesWhatCannotBeSynced(t *testing.T) {
	root, _ := openRoot(t)
	opts := Options{TempDir: tmp}
	dir := build(t, root, opts)
	if err := root.Symlink("/etc/passwd", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := PublishDir(root, dir, "x", opts); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("link: %v", err)
	}
	if err := PublishDir(root, "../x", "y", opts); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("outside: %v", err)
	}
}

func TestMkdirTemp_isUnique(t *testing.T) {
	root, _ := openRoot(t)
	seen := map[string]bool{}
	for range 20 {
		dir, err := MkdirTemp(root, "x", Options{TempDir: tmp})
		if err != nil {
			t.Fatal(err)
		}
		if seen[dir] {
			t.Fatalf("%s twice", dir)
		}
		seen[dir] = true
	}
}
