package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestUserLocalDirectoriesArePrivate holds it for the directory that is made, and that one which
// was made by somebody else is named.
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
	dir, err := makeSilo(env, t.TempDir(), "ab12c")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	if got := env.Exposed(); got != nil {
		t.Errorf("exposed are %q", got)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := env.Exposed(); !slices.Equal(got, []string{dir}) {
		t.Errorf("exposed are %q", got)
	}
}
