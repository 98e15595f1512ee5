package redact

import (
	"fmt"
	"path"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/workspace"
)

// tempDir is the directory for temporary files, below .jp/blobs.
const tempDir = ".tmp"

// WriteEntry writes an entry about secrets. The name is a path below the workspace's .jp.
func WriteEntry(w *workspace.Workspace, name string, data []byte) error {
	err := atomicfile.WriteIn(w.Dir(), name, data, atomicfile.Options{
		TempDir: path.Join(blobs.Dir, tempDir),
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
