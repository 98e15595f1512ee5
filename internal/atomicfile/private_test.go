//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// TestPrivate checks the modes of everything that is created privately, also over an open file, and
// that the members of a group which shares a repository have access.
func TestPrivate(t *testing.T) {
	for _, tc := range []struct {
		name      string
		top       fs.FileMode
		dir, file fs.FileMode
	}{
		{"mine", 0o755, 0o700, 0o600},
		{"writable", 0o777, 0o700, 0o600},
		{"of a group", 0o775 | fs.ModeSetgid, 0o770, 0o660},
	} {
		t.Run(tc.name, func(t *testing.T) {
			top := t.TempDir()
			if err := os.Chmod(top, tc.top); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{"a", "a/b/", "a/b", "d/e"} {
				if err := MkdirPrivate(top + "/" + dir); err != nil {
					t.Fatal(err)
				}
			}
			f, err := OpenPrivate(filepath.Join(top, "a", "lock"), os.O_RDWR)
			if err != nil || f.Close() != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(filepath.Join(top, "a"))
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			if err := root.WriteFile("old", nil, 0o644); err != nil {
				t.Fatal(err)
			}
			above, err := os.OpenRoot(filepath.Dir(top))
			if err != nil {
				t.Fatal(err)
			}
			defer above.Close()
			o := Options{TempDir: filepath.Base(top) + "/a/x", Private: true}
			if err := Write(above, o.TempDir+"/below", []byte("x"), o); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"old", "c/d/new"} {
				o := Options{TempDir: "tmp", Private: true}
				if err := Write(root, name, []byte("x"), o); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"a", "a/b", "d", "d/e", "a/c", "a/c/d", "a/tmp", "a/x"} {
				wantMode(t, filepath.Join(top, name), tc.dir)
			}
			for _, name := range []string{"a/lock", "a/old", "a/c/d/new", "a/x/below"} {
				wantMode(t, filepath.Join(top, name), tc.file)
			}
		})
	}
}

// TestClose closes the user's own directories, and reports those of other users.
func TestClose(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	dir := filepath.Join(t.TempDir(), "d")
	if closed, err := Close(dir); closed || err != nil {
		t.Errorf("of nothing: %v, %v", closed, err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if closed, err := Close(dir); closed != want || err != nil {
			t.Errorf("got %v, %v, want %v", closed, err, want)
		}
	}
	wantMode(t, dir, 0o700)
	if _, err := Close("/usr"); err == nil {
		t.Error("the directory of another user was closed")
	}
}

func wantMode(t *testing.T, name string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %v, want %v", name, got, want)
	}
}
