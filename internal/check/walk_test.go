package check_test

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/regular"
)

// A closedFS does not list one directory.
type closedFS struct {
	fstest.MapFS
	closed string
}

func (c closedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == c.closed {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return c.MapFS.ReadDir(name)
}

// TestWalkReportsWhatItCannotList walks a store of which a directory cannot be listed.
func TestWalkReportsWhatItCannotList(t *testing.T) {
	files := fstest.MapFS{"s/a/b/file": {}, "s/c/d/file": {}, "s/file": {}}
	for _, closed := range []string{"s", "s/a", "s/c/d", ""} {
		src, ok := check.FS("files", closedFS{files, closed}, regular.Limits{}).(check.Walker)
		if !ok {
			t.Fatal("it cannot be walked")
		}
		var names []string
		err := src.Walk(t.Context(), "s", func(e check.Entry) {
			names = append(names, path.Join("s", e.Name))
		})
		if errors.Is(err, fs.ErrPermission) != (closed != "") {
			t.Errorf("closed %q: %v", closed, err)
		}
		if slices.Sort(names); closed == "" &&
			!slices.Equal(names, []string{"s/a/b/file", "s/c/d/file", "s/file"}) {
			t.Errorf("got %q", names)
		}
	}
}

// TestSizesOfWhatIsGone asks for the size of a file whose directory was removed.
func TestSizesOfWhatIsGone(t *testing.T) {
	w, err := check.OpenWorkTree(t.TempDir(), regular.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // was only read
	sizes, err := w.Sizes(t.Context(), []check.File{{Path: "s/a/b/file"}, {Path: "file"}})
	if err != nil || !slices.Equal(sizes, []int64{-1, -1}) {
		t.Errorf("got %v, %v", sizes, err)
	}
}
