package config

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// editAttempts is how often an edit is tried while other programs edit the file too. Of several
// concurrent edits, one succeeds in each round.
const editAttempts = 64

// EditFile replaces a configuration file by what edit makes of it. A missing file is empty. If
// another program changes the file in the meantime, edit is called again with its version. The
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
	if err := os.MkdirAll(dir, atomicfile.DirPerm); err != nil {
		return err
	}
	return atomicfile.ReplaceIn(dir, filepath.Base(path), data, changed,
		atomicfile.Options{TempDir: temp})
}
