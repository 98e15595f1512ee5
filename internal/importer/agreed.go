package importer

import (
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/atomicfile"
)

// agreement returns the file in the git directory that records that the user agreed to imports in
// this clone.
func agreement(commonDir string) string { return filepath.Join(commonDir, "jp", "import") }

// Agreed reports whether the user agreed to imports in a clone.
func Agreed(commonDir string) bool {
	_, err := os.Lstat(agreement(commonDir))
	return err == nil
}

// Agree records that the user agreed.
func Agree(commonDir string) error {
	note := agreement(commonDir)
	if err := atomicfile.MkdirPrivate(filepath.Dir(note)); err != nil {
		return err
	}
	f, err := atomicfile.OpenPrivate(note, os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return err
	}
	return f.Close()
}
