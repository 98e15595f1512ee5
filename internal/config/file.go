package config

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// editAttempts is how often a file is edited that others edit too. Of those who do so at the same
// time one succeeds each time.
const editAttempts = 64

// EditFile replaces a configuration file by what edit makes of it. A missing file is empty. What
// somebody else writes meanwhile is edited in its turn, so edit can be called again. The
// temporary file is in temp below the file's directory, "." for beside it.
func EditFile(path, temp string, edit func([]byte) ([]byte, error)) (err error) {
	for range editAttempts {
		err = editFile(path, temp, edit)
		if !errors.Is(err, atomicfile.ErrChanged) {
			break
		}
	}
	return err
}

func editFile(path, temp string, edit func([]byte) ([]byte, error)) error {
	data, err := regular.ReadFile(path, regular.MaxSettings)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	changed, err := edit(data)
	if err != nil || string(changed) == string(data) {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.ReplaceIn(dir, filepath.Base(path), data, changed,
		atomicfile.Options{TempDir: temp})
}
