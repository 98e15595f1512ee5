//go:build unix

package file

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAPipeIsNotOpened(t *testing.T) {
	root, _ := workspace(t)
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := tree(t, root).Read("pipe", 0, CanRead); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a pipe: %v", err)
	}
}
