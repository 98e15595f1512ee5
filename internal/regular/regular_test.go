package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/regular"
)

// TestRead reads what is regular, through a link too, and refuses what is not. A directory
// stands for it here; pipes are in the scripts.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600),
		os.Mkdir(filepath.Join(dir, "other"), 0o700),
		os.Symlink("file", filepath.Join(dir, "link")),
	); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(name string) ([]byte, error){
		"ReadFile": func(name string) ([]byte, error) {
			return regular.ReadFile(filepath.Join(dir, name))
		},
		"Read": func(name string) ([]byte, error) { return regular.Read(os.DirFS(dir), name) },
		"Open": func(name string) ([]byte, error) {
			f, err := regular.Open(os.DirFS(dir), name)
			if err != nil {
				return nil, err
			}
			defer f.Close() //nolint:errcheck // was only read
			data := make([]byte, 4)
			_, err = f.Read(data)
			return data, err
		},
	} {
		for _, tt := range []struct {
			name string
			want error
		}{{"file", nil}, {"link", nil}, {"other", regular.ErrNot}, {"none", fs.ErrNotExist}} {
			data, err := read(tt.name)
			if !errors.Is(err, tt.want) || tt.want == nil && string(data) != "text" {
				t.Errorf("%s(%s) = %q, %v, want %v", name, tt.name, data, err, tt.want)
			}
		}
	}
}
