package gitfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
)

// Read reads a file to its end. One whose size differs from what was read is read again, for a
// moment.
func Read(name string) (data []byte, err error) {
	for range Attempts {
		var whole bool
		if data, whole, err = readOnce(name); whole || err != nil {
			return data, err
		}
	}
	return nil, fmt.Errorf("read %s: it has another size than what can be read of it", name)
}

func readOnce(name string) (data []byte, whole bool, err error) {
	file, err := regular.OpenFile(name)
	if err != nil {
		return nil, false, err
	}
	defer file.Close() //nolint:errcheck // was only read
	if data, err = regular.ReadAll(file, regular.MaxOwn); err != nil {
		return nil, false, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, false, err
	}
	return data, !info.Mode().IsRegular() || info.Size() == int64(len(data)), nil
}

const (
	// tries is how often a file is read that another process seems to be writing, such as an empty
	// ref: a writer that does not rename may be between creating and writing it.
	tries = 3
	// Pause is how long to wait for such a writer.
	Pause = 5 * time.Millisecond
)

// Attempts pauses between as many steps of a loop.
func Attempts(yield func() bool) {
	for try := range tries {
		if try > 0 {
			time.Sleep(Pause)
		}
		if !yield() {
			return
		}
	}
}

// Walk calls f with the slash path below dir of every file that is no lock. Files removed meanwhile
// are skipped.
func Walk(ctx context.Context, dir string, f func(name string) error) error {
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if IsMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.IsDir() || strings.HasSuffix(at, ".lock") {
			return ctx.Err()
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(name))
	})
}

// IsMissing reports whether an error says that there is no such file.
func IsMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
