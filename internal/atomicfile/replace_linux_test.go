package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A program that has the file open to write will write to what it opened, wherever that is by then.
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
	// Who only reads is not in the way.
	if f, err = os.Open(x); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Replace(root, "x", []byte("odd"), []byte("new"), Options{TempDir: tmp}); err != nil {
		t.Error(err)
	}
	noTemps(t, root)
}
