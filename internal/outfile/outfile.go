package outfile

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Write writes output to a file. The name of its temporary file has the id of the process.
func Write(path string, pid int, write func(io.Writer) error) error {
	if err := Refuse(path); err != nil {
		return err
	}
	temp := func(path string) string { return fmt.Sprintf("%s.%d.tmp", path, pid) }
	return atomicfile.Output(path, temp, write)
}

// Refuse returns an error for a path in .git, or in the directory .jp of a workspace, through
// whatever links: these directories are for the files of git and of the workspace only.
func Refuse(path string) error {
	for at, real := path, ""; real == "" && at != filepath.Dir(at); at = filepath.Dir(at) {
		var err error
		if real, err = filepath.EvalSymlinks(at); err != nil {
			continue // does not exist yet
		}
		for ; real != filepath.Dir(real); real = filepath.Dir(real) {
			isJP := strings.EqualFold(filepath.Base(real), workspace.DirName)
			switch {
			case isJP && workspace.Is(filepath.Dir(real)):
				return fmt.Errorf("%s is reserved for the files of a workspace", real)
			case strings.EqualFold(filepath.Base(real), ".git"):
				return fmt.Errorf("%s is reserved for the files of git", real)
			}
		}
	}
	return nil
}
