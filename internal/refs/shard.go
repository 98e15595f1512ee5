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

// The version changes with the format of the records, and whenever package events
// comes to another answer about the same bytes: an old answer would not go away by itself.
const (
	version = 2
	header  = "git-jp references 2\n"
)

const (
	maxShard = 16 << 20  // a longer file is started anew
	maxBatch = 256 << 10 // new records are written when there are so many bytes of them
	maxKept  = 4 << 20   // bytes of records kept where nothing can be written
	maxHeld  = 2 << 20   // a file up to this size is not read again for each record
)

// A shard is one file of the cache, and what this process adds to it.
type shard struct {
	mu     sync.Mutex
	path   string // "" for memory only
	loaded bool
	fresh  bool // the file is absent, foreign or full: the next write replaces it
	file   *os.File
	data   []byte       // what the file began with when it was indexed; nil if that is a lot
	index  map[key]span // records in file
	added  map[key]span // records in batch
	batch  []byte
	stuck  bool // a write has failed, so no other is tried
}

func (s *shard) init(dir string, n int) {
	if dir != "" {
		s.path = filepath.Join(dir, fmt.Sprintf("refs-%d-%x", version, n))
	}
}

// lookup returns the payload of a record.
func (s *shard) lookup(k key) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	// What was sound when it was indexed may have been cut or overwritten since.
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

// add remembers a record, and writes the batch when it has grown.
func (s *shard) add(k key, payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	if _, ok := s.added[k]; ok || len(payload) > maxBody/2 {
		return
	}
	if s.unwritable() && len(s.batch) > maxKept {
		return
	}
	from := len(s.batch)
	s.batch = appendRecord(s.batch, k, payload)
	if s.added == nil {
		s.added = make(map[key]span)
	}
	s.added[k] = spanOf(from, len(s.batch)-from, payload)
	if len(s.batch) > maxBatch && !s.unwritable() {
		// The records stay in the batch when they cannot be written.
		_ = s.flush()
	}
}

func (s *shard) unwritable() bool { return s.path == "" || s.stuck }

// load indexes the file, once. Any trouble with it means an empty cache.
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

// readShard reads all of the file, unless it is longer than any of ours.
func readShard(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, min(info.Size(), 2*maxShard))
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it was cut
	}
	return data[:n], err
}

// openRegular opens a file that is a regular one and no symbolic link, so that a
// fifo cannot make a reader wait.
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

// flush writes the batch behind the file, or as a new file.
func (s *shard) flush() error {
	if len(s.batch) == 0 || s.unwritable() {
		return nil
	}
	var f *os.File
	var err error
	if s.fresh {
		f, err = s.replace()
	} else if f, err = s.append(); errors.Is(err, fs.ErrNotExist) {
		f, err = s.replace() // somebody has deleted the cache
	}
	if err != nil {
		s.stuck = true
		return fmt.Errorf("write cache %q: %w", s.path, err)
	}
	return s.adopt(f)
}

// append writes the batch in one piece at the end of the file, where O_APPEND puts it
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

// replace writes a file of the batch alone and renames it into place, so that nobody
// sees one without its header. It returns nil when the file is already gone again.
func (s *shard) replace() (*os.File, error) {
	dir, name := filepath.Split(s.path)
	if err := atomicfile.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	opts := atomicfile.Options{TempDir: "tmp", Private: true, NoSync: true}
	if err := atomicfile.WriteIn(dir, name, append([]byte(header), s.batch...), opts); err != nil {
		return nil, err
	}
	f, err := openRegular(s.path, os.O_RDWR|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // somebody has deleted the cache just now
	}
	if err != nil {
		return nil, err
	}
	// Somebody may have replaced it again; then the spans of adopt are wrong, and
	// their records do not verify.
	_, err = f.Seek(int64(len(header)+len(s.batch)), io.SeekStart)
	return f, err
}

// adopt makes f, which ends with the batch, the file that is read from. A nil f is
// a file that was deleted again.
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

// shut closes a file or a directory, whose errors do not matter: what was written is
// verified when it is read. A nil file is none.
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
	shut(s.file)
	s.file, s.data, s.index, s.loaded = nil, nil, nil, false
	return err
}
