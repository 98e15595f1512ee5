package sessions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxEntries limits how many entries of directories a walk looks at: a link may lead to the root of
// the file system.
const maxEntries = 2_000_000

// ErrLink reports a symbolic link that is not followed.
var ErrLink = errors.New("it is a symbolic link below a directory; name its target")

// A Walk visits the regular files below a directory, which may be a symbolic link itself.
type Walk struct {
	// Links says that symbolic links below the directory are followed, as in the directories of an
	// agent, which its user made. If not, they are visited with [ErrLink]: a directory that a user
	// names may be one of a repository, in which others make the links.
	Links bool
	// Visit is called with a file, or with what cannot be read and the error. An error of Visit
	// ends the walk.
	Visit func(path string, err error) error

	root    string
	linked  map[string]bool // directories that links led to
	entries int
}

// Below walks through a directory. A file that is reachable in several ways may be visited several
// times, but no link to a directory is followed twice, and none to one around the walk.
func (w *Walk) Below(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir // list reports the error, with the path
	}
	w.root, w.linked, w.entries = real, map[string]bool{}, 0
	return w.list(real)
}

func (w *Walk) list(dir string) error {
	all, err := os.ReadDir(dir)
	if w.entries += len(all); w.entries > maxEntries {
		err = errManyFiles
	}
	if err != nil {
		return w.Visit(dir, err)
	}
	for _, e := range all {
		if err := w.entry(filepath.Join(dir, e.Name()), e.Type()); err != nil {
			return err
		}
	}
	return nil
}

func (w *Walk) entry(path string, mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		if !w.Links {
			return w.Visit(path, ErrLink)
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return w.Visit(path, err)
		}
		if mode = info.Mode().Type(); mode.IsDir() && !w.enters(path) {
			return nil
		}
	}
	switch {
	case mode.IsDir():
		return w.list(path)
	case mode.IsRegular():
		return w.Visit(path, nil)
	}
	return nil
}

// enters reports whether a link leads to a directory that the walk has not entered by a link and
// that is not around it.
func (w *Walk) enters(link string) bool {
	real, err := filepath.EvalSymlinks(link)
	if err != nil || w.linked[real] {
		return false
	}
	w.linked[real] = true
	rest, around := strings.CutPrefix(w.root, strings.TrimRight(real, string(filepath.Separator)))
	return !around || rest != "" && rest[0] != filepath.Separator
}
