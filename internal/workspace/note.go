package workspace

import (
	"errors"
	"fmt"
	"io/fs"
)

// WriteFile writes a file of ours below .jp that belongs to no conversation, in one step. The name
// has slashes; missing directories are made.
func (w *Workspace) WriteFile(name string, data []byte) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	}
	if err := w.main.write(name, data); err != nil {
		return fmt.Errorf("write %s/%s: %w", DirName, name, err)
	}
	return nil
}

// RemoveFile removes a file that [Workspace.WriteFile] wrote. One that is not there is removed.
func (w *Workspace) RemoveFile(name string) error {
	if err := w.main.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s/%s: %w", DirName, name, err)
	}
	return nil
}
