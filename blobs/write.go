package blobs

import (
	"fmt"
	"os"

	"github.com/git-jp/git-jp/internal/atomicfile"
)

// tempDir is the directory of unfinished blobs, below the store. Git ignores it.
const tempDir = ".tmp"

// Write stores b and returns its reference. A new file is durable when Write returns. An intact
// file that exists is kept, as durable as its writer made it; its modification time is set to now,
// so that garbage collection's grace period, in which the caller may refer to it, starts again.
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

// keep updates the modification time of ref's blob at name below root and reports whether the blob
// is intact and was updated. The reason for a failure does not matter: a blob that cannot be kept
// is replaced, also an intact file of another owner, whose time cannot be set.
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
		Perm:    atomicfile.FilePerm,
		Private: s.private,
		Hook:    s.hook,
	}
}

func writeError(ref Ref, err error) error {
	return fmt.Errorf("write blob %s: %w", ref.Hash, err)
}
