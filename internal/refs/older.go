package refs

import (
	"os"
	"time"
)

// A shard has two generations. Records are written to the file of this one; those of the one before
// are written again when they are used. When this one has become old, it takes the place of the one
// before, and what nobody has used since is gone. Otherwise each command would read what every
// version of every conversation ever said: that grows with the history, and not with the work.
const (
	olderEnd = ".old"
	// minGeneration is the size up to which a generation never ends: it is read in no time.
	minGeneration = 1 << 20
	// generation is how long one lasts at least.
	generation = 30 * 24 * time.Hour
)

// isOld reports whether the file is to become the generation before. Ages are by the clock of the
// file system.
func (s *shard) isOld() bool {
	if s.file == nil {
		return false
	}
	info, err := s.file.Stat()
	if err != nil || info.Size() <= minGeneration {
		return false
	}
	before, err := os.Lstat(s.path + olderEnd)
	return err != nil || info.ModTime().Sub(before.ModTime()) >= generation
}

// keepOlder makes the file that was read the generation before, unless it is no longer there. A
// failure only costs time.
func (s *shard) keepOlder() {
	if s.file == nil || s.older == nil {
		return
	}
	there, err := os.Lstat(s.path)
	info, errFile := s.file.Stat()
	if err != nil || errFile != nil || !os.SameFile(there, info) {
		return
	}
	if os.Rename(s.path, s.older.path) == nil {
		s.older.unload()
	}
}

// begin gives the generation before the time at which this one, in f, began.
func (s *shard) begin(f *os.File) {
	if info, err := f.Stat(); err == nil {
		_ = os.Chtimes(s.path+olderEnd, info.ModTime(), info.ModTime())
	}
}
