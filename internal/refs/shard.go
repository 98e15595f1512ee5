package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/git-jp/git-jp/internal/atomicfile"
)

// The version changes with the format of the records, and whenever package events gives another
// answer about the same bytes, because old answers would not disappear by themselves.
const (
	version = "7"
	header  = "git-jp references 3\n"
)

// The names of shards begin with family, those of this version with current.
const (
	family  = "refs-"
	current = family + version + "-"
)

const (
	maxShard = 16 << 20  // a longer file is started anew
	maxBatch = 256 << 10 // new records are written when they have this size
	maxKept  = 4 << 20   // size of the records that are kept if they cannot be written
	maxHeld  = 2 << 20   // a file up to this size is kept in memory
)

// A shard is one file of the cache, and the records that this process adds to it.
type shard struct {
	mu     sync.Mutex
	path   string // "" for memory only
	loaded bool
	fresh  bool // the file is absent, foreign or full: the next write replaces it
	file   *os.File
	data   []byte       // the beginning of the file when it was indexed; nil if it is too large
	index  map[key]span // records in file
	added  map[key]span // records in batch
	batch  []byte
	stuck  bool // a write has failed, and writing is not tried again

	older   *shard // the generation before, which is only read; nil in that
	written bool   // something was written since it was loaded
}

func (s *shard) init(dir string, n int) {
	if dir != "" {
		s.path = filepath.Join(dir, fmt.Sprintf("%s%x", current, n))
		s.older = &shard{path: s.path + olderEnd}
	}
}

// lookup returns the payload of a record. One of the generation before becomes one of this.
func (s *shard) lookup(k key) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	payload, ok := s.find(k)
	if ok || s.older == nil {
		return payload, ok
	}
	if payload, ok = s.older.find(k); ok {
		s.put(k, payload)
	}
	return payload, ok
}

// find returns the payload of a record of this generation.
func (s *shard) find(k key) ([]byte, bool) {
	s.load()
	if at, ok := s.added[k]; ok {
		_, payload, _, ok := parseRecord(s.batch[at.off : at.off+int64(at.size)])
		return payload, ok
	}
	at, ok := s.index[k]
	switch {
	case !ok:
		return nil, false
	case at.known:
		return slices.Clone(at.short[:at.n]), true
	}
	if end := at.off + int64(at.size); end <= int64(len(s.data)) {
		return s.data[at.off+int64(frameSize+bodyHead)+int64(k.size) : end : end], true
	}
	// A record that was intact when it was indexed may have been truncated or overwritten since.
	buf := make([]byte, at.size)
	if _, err := s.file.ReadAt(buf, at.off); err != nil {
		delete(s.index, k)
		return nil, false
	}
	found, payload, _, ok := parseRecord(buf)
	if !ok || found != k {
		delete(s.index, k)
		return nil, false
	}
	return payload, true
}

// add remembers a record, and writes the batch when it is large enough.
func (s *shard) add(k key, payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	s.put(k, payload)
}

func (s *shard) put(k key, payload []byte) {
	if _, ok := s.added[k]; ok || len(payload) > maxBody/2 {
		return
	}
	if s.unwritable() && len(s.batch) > maxKept {
		return
	}
	from := len(s.batch)
	if n := frameSize + bodyHead + int(k.size) + len(payload); cap(s.batch)-from < n {
		s.batch = slices.Grow(s.batch, n+from) // doubled: it is copied less often
	}
	s.batch = appendRecord(s.batch, k, payload)
	if s.added == nil {
		s.added = make(map[key]span)
	}
	s.added[k] = spanOf(from, len(s.batch)-from, payload)
	if len(s.batch) > maxBatch && !s.unwritable() {
		// Records that cannot be written stay in the batch.
		_ = s.flush()
	}
}

func (s *shard) unwritable() bool { return s.path == "" || s.stuck }

// load indexes the file, once. On any error the cache is empty.
func (s *shard) load() {
	if s.loaded {
		return
	}
	s.loaded, s.fresh = true, true
	if s.path == "" {
		return
	}
	f, err := openRegular(s.path, os.O_RDONLY)
	if err != nil {
		return
	}
	data, err := readShard(f)
	if err != nil || len(data) < len(header) || string(data[:len(header)]) != header {
		shut(f)
		return
	}
	s.file, s.fresh = f, len(data) > maxShard
	if len(data) <= maxHeld {
		s.data = data
	}
	s.index = make(map[key]span, bytes.Count(data, []byte(mark)))
	scan(data[len(header):], func(k key, at span) {
		s.index[k] = at.moved(int64(len(header)))
	})
}

// readShard reads the file, up to a bound that is larger than any shard.
func readShard(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, min(info.Size(), 2*maxShard))
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it was truncated meanwhile
	}
	return data[:n], err
}

// openRegular opens a regular file, and no symbolic link, so that a named pipe cannot block a
// reader.
func openRegular(path string, flag int) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open cache %q: %w", path, errors.ErrUnsupported)
	}
	return os.OpenFile(path, flag, 0)
}

// flush appends the batch to the file, or writes a new file.
func (s *shard) flush() error {
	if len(s.batch) == 0 || s.unwritable() {
		return nil
	}
	var f *os.File
	var err error
	if s.fresh || s.isOld() {
		f, err = s.replace()
	} else if f, err = s.append(); errors.Is(err, fs.ErrNotExist) {
		f, err = s.replace() // another process has deleted the cache
	}
	if err != nil {
		s.stuck = true
		return fmt.Errorf("write cache %q: %w", s.path, err)
	}
	s.written = true
	return s.adopt(f)
}

// append writes the batch in a single write at the end of the file, where O_APPEND places it
// whatever other processes do.
func (s *shard) append() (*os.File, error) {
	f, err := openRegular(s.path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(s.batch); err != nil {
		shut(f)
		return nil, err
	}
	return f, nil
}

// replace writes a file with only the batch and renames it into place, so that no process sees a
// file without its header. The file that was there becomes the generation before. It returns nil if
// the file has been deleted again.
func (s *shard) replace() (*os.File, error) {
	dir, name := filepath.Split(s.path)
	if err := atomicfile.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	s.keepOlder()
	opts := atomicfile.Options{TempDir: "tmp", Private: true, NoSync: true}
	if err := atomicfile.WriteIn(dir, name, append([]byte(header), s.batch...), opts); err != nil {
		return nil, err
	}
	f, err := openRegular(s.path, os.O_RDWR|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // another process has just deleted the cache
	}
	if err != nil {
		return nil, err
	}
	s.begin(f)
	// If another process has replaced the file again, the spans of adopt are wrong, and their
	// records do not verify.
	_, err = f.Seek(int64(len(header)+len(s.batch)), io.SeekStart)
	return f, err
}

// adopt makes f, which ends with the batch, the current file. A nil f means that the file was
// deleted again.
func (s *shard) adopt(f *os.File) error {
	if f == nil {
		shut(s.file)
		s.file, s.data, s.index, s.fresh, s.added, s.batch = nil, nil, nil, true, nil, nil
		return nil
	}
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		shut(f)
		return err
	}
	if !sameFile(s.file, f) {
		s.index, s.data = make(map[key]span), nil
	}
	shut(s.file)
	for k, at := range s.added {
		s.index[k] = at.moved(end - int64(len(s.batch)))
	}
	s.file, s.fresh, s.added, s.batch = f, end > maxShard, nil, nil
	return nil
}

func sameFile(a, b *os.File) bool {
	if a == nil {
		return false
	}
	infoA, errA := a.Stat()
	infoB, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// shut closes a file or directory and ignores the error: written records are verified when they are
// read. A nil file is allowed.
func shut(c io.Closer) {
	if f, ok := c.(*os.File); ok && f == nil {
		return
	}
	_ = c.Close()
}

func (s *shard) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.flush()
	s.unload()
	if s.older != nil {
		s.older.unload()
	}
	return err
}

func (s *shard) unload() {
	shut(s.file)
	s.file, s.data, s.index, s.loaded = nil, nil, nil, false
}
