package workspace

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
)

// A LeftOutError reports that a sparse checkout leaves a file, or the conversation of an ID, out of
// the working tree. It exists in the index; creating it again would replace it in the next commit.
type LeftOutError struct {
	ID   events.ID // 0 for a file outside of conversations
	Path string    // below the workspace's root
}

// Error names what is left out, and its path.
func (e *LeftOutError) Error() string {
	if e.ID == 0 {
		return e.Path + " is left out by the sparse checkout"
	}
	return fmt.Sprintf("conversation %s is left out by the sparse checkout: %s", e.ID, e.Path)
}

// Is matches [fs.ErrExist]: the conversation exists.
func (*LeftOutError) Is(target error) bool { return target == fs.ErrExist }

// leftOut has what a sparse checkout leaves out of the workspace.
type leftOut struct {
	files []string // sorted
	read  func(name string) ([]byte, error)
	dirs  map[events.ID]string
}

// readLeftOut returns a function that reads it once.
func readLeftOut(env Env) func() (leftOut, error) {
	return sync.OnceValues(func() (left leftOut, err error) {
		if env.LeftOut == nil {
			return left, nil
		}
		left.dirs = map[events.ID]string{}
		all, err := env.LeftOut()
		if err != nil {
			return left, fmt.Errorf("look for what a sparse checkout leaves out: %w", err)
		}
		left.files, left.read = all.Names(), all.ReadFile
		slices.Sort(left.files)
		for _, name := range left.files {
			dir, ok := strings.CutPrefix(name, DirName+"/"+archiveDir+"/")
			if !ok {
				dir, _ = strings.CutPrefix(name, DirName+"/"+ConversationsDir+"/")
			}
			base, _, below := strings.Cut(dir, "/")
			if id, ok := events.ParseDirname(base); ok && below {
				left.dirs[id] = name[:len(name)-len(dir)+len(base)]
			}
		}
		return left, nil
	})
}

// LeftOut returns a [LeftOutError] if a sparse checkout leaves out the conversation of an id.
func (w *Workspace) LeftOut(id events.ID) error {
	left, err := w.leftOut()
	if at, ok := left.dirs[id]; ok && err == nil {
		return &LeftOutError{id, at}
	}
	return err
}

// FileLeftOut returns a [LeftOutError] if a sparse checkout leaves out a file, named below .jp, or
// a file in a directory of that name.
func (w *Workspace) FileLeftOut(name string) error {
	left, err := w.leftOut()
	name = DirName + "/" + name
	i, _ := slices.BinarySearch(left.files, name)
	for _, at := range left.files[i:] {
		if at == name || strings.HasPrefix(at, name+"/") {
			return &LeftOutError{Path: at}
		}
		if !strings.HasPrefix(at, name) {
			break
		}
	}
	return err
}

// LeftOutBelow returns the files below a directory that a sparse checkout leaves out. All names are
// below the root.
func (w *Workspace) LeftOutBelow(dir string) ([]string, error) {
	left, err := w.leftOut()
	return Below(left.files, dir), err
}

// Below returns the names below a directory among sorted names.
func Below(names []string, dir string) []string {
	first, _ := slices.BinarySearch(names, dir+"/")
	last, _ := slices.BinarySearch(names, dir+"0") // '0' comes after '/'
	return names[first:last]
}

// ReadLeftOut reads a file that a sparse checkout leaves out, as the next commit has it.
func (w *Workspace) ReadLeftOut(name string) ([]byte, error) {
	left, err := w.leftOut()
	switch {
	case err != nil:
		return nil, err
	case left.read == nil:
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return left.read(name)
}
