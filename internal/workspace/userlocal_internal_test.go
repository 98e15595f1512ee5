package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestUserLocalDirectoriesArePrivate checks the mode of the created directory, and that PrivateDirs
// has all directories.
func TestUserLocalDirectoriesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	home := t.TempDir()
	env := Env{Home: home, Getenv: func(name string) string {
		if name == "XDG_DATA_HOME" {
			return filepath.Join(home, "data")
		}
		return ""
	}}
	dir, err := makeUserLocal(env, t.TempDir(), "ab12c")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	want := []string{dir, filepath.Join(home, "data", "git-jp")}
	if got := env.PrivateDirs(); !slices.Equal(got, want) {
		t.Errorf("private are %q, want %q", got, want)
	}
}
