package workspace

import (
	"errors"
	"fmt"
	"io/fs"
)

// WriteFile writes a file of git-jp below .jp, outside of conversations, in one step. The name has
// slashes; missing directories are created.
func (w *Workspace) WriteFile(name string, data []byte) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	}
	if err := w.main.write(name, data); err != nil {
		return fmt.Errorf("write %s/%s: %w", DirName, name, err)
	}
	return nil
}

// RemoveFile removes a file that [Workspace.WriteFile] wrote. A missing file is no error.
func (w *Workspace) RemoveFile(name string) error {
	if err := w.main.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s/%s: %w", DirName, name, err)
	}
	return nil
}
