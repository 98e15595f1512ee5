package handover

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
)

// errOtherSession is for a file in the place of a session that does not begin with it.
var errOtherSession = errors.New("another file is in its place")

// Keep writes a session where its agent looks for it. An existing one stays: the agent has
// continued it since.
func (s *Session) Keep() error {
	if err := sessions.Absolute(s.Path); err != nil {
		return err
	}
	if err := atomicfile.MkdirPrivate(filepath.Dir(s.Path)); err != nil {
		return err
	}
	there, err := beginning(s.Path, len(s.Data))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.write()
	case err != nil:
		return err
	case !bytes.Equal(there, s.Data):
		return fmt.Errorf("write %s: %w", s.Path, errOtherSession)
	}
	return nil
}

// beginning returns the first n bytes of a file, or all if it has fewer.
func beginning(name string, n int) ([]byte, error) {
	f, err := regular.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, int64(n)))
}

func (s *Session) write() error {
	dir, name := filepath.Split(s.Path)
	return atomicfile.WriteIn(dir, name, s.Data, atomicfile.Options{TempDir: ".", Private: true})
}
