package blobs

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/git-jp/git-jp/internal/atomicfile"
)

// tempDir is where unfinished blobs lie, below the store. Git ignores it.
const tempDir = ".tmp"

// blobPerm is the mode of a blob's file, before the umask.
const blobPerm fs.FileMode = 0o644

// Write puts b into the store and returns its reference. A new file is durable when
// Write returns. A sound one that was there is kept, as durable as its writer made it;
// its modification time becomes now, so that the collector's grace period, in which
// the caller may refer to it, begins again.
func (s *Store) Write(b []byte) (Ref, error) {
	ref := RefTo(b)
	err := s.limits.Check(ref.Size)
	if err == nil {
		err = s.do(s.create, func(root *os.Root) error { return s.write(root, ref, b) })
	}
	if err != nil {
		return Ref{}, writeError(ref, err)
	}
	return ref, nil
}

func (s *Store) write(root *os.Root, ref Ref, b []byte) error {
	if s.keep(root, s.path(ref.Hash), ref) {
		return nil
	}
	return atomicfile.Write(root, s.path(ref.Hash), Encode(b), s.fileOptions())
}

// keep reports whether ref's blob is there, at name below root, sound, and stamped with
// the present time. Why it is not does not matter: what cannot be kept is replaced, also a
// sound file of another owner, whose time we cannot set.
func (s *Store) keep(root *os.Root, name string, ref Ref) bool {
	if s.now == nil {
		return false
	}
	f, _, err := s.openBlob(root, name, ref.Hash)
	if err != nil {
		return false
	}
	defer closeRead(f)
	if verify(f, ref, ref.Size) != nil {
		return false
	}
	now := s.now()
	return root.Chtimes(name, now, now) == nil
}

func (s *Store) fileOptions() atomicfile.Options {
	return atomicfile.Options{
		TempDir: s.name + "/" + tempDir,
		Perm:    blobPerm,
		Private: s.private,
		Hook:    s.hook,
	}
}

func writeError(ref Ref, err error) error {
	return fmt.Errorf("write blob %s: %w", ref.Hash, err)
}
