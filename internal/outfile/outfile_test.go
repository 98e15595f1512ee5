package outfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/outfile"
)

func TestNothingIsWrittenAmongFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".git", ".jp/conversations", "plain/.jp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".git", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for name, refused := range map[string]bool{
		"a.md": false, "new/a.md": false, "plain/a.md": false,
		".git/a.md": true, ".git/new/a.md": true, "link/a.md": true,
		".jp/a.md": true, ".jp/conversations/a.md": true,
	} {
		if err := outfile.Refuse(filepath.Join(dir, name)); (err != nil) != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFailureLeavesWhatWasThere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.md")
	write := func(text string, err error) error {
		return outfile.Write(name, 7, func(w io.Writer) error {
			_, failed := io.WriteString(w, text)
			return errors.Join(failed, err)
		})
	}
	if err := write("one", nil); err != nil {
		t.Fatal(err)
	}
	if err := write("two", errors.New("broken")); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got %v, want what failed", err)
	}
	data, err := os.ReadFile(name)
	left, globbed := filepath.Glob(name + "*")
	if string(data) != "one" || len(left) != 1 || errors.Join(err, globbed) != nil {
		t.Errorf("the file has %q beside %v", data, left)
	}
}
