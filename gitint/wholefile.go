package gitint

import (
	"fmt"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
)

// readWhole reads a file to its end. Another process may be writing, so a file whose size differs
// from what was read is read again, for a moment; the beginning of a file is never taken for the
// complete file, because the rest may be the only name of something.
func readWhole(name string) (data []byte, err error) {
	for range attempts {
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
	// emptyRefTries is how often a file is read that another process seems to be writing, such as
	// an empty ref: a writer that does not rename may be between creating and writing it.
	emptyRefTries = 3
	emptyRefPause = 5 * time.Millisecond
)

// attempts pauses between as many steps of a loop.
func attempts(yield func() bool) {
	for try := range emptyRefTries {
		if try > 0 {
			time.Sleep(emptyRefPause)
		}
		if !yield() {
			return
		}
	}
}
