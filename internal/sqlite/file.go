package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/git-jp/git-jp/internal/regular"
)

// Errors of databases that cannot be read now, or not at all.
var (
	ErrNotDatabase = errors.New("not an SQLite database")
	ErrDamaged     = errors.New("the database is damaged")
	ErrUnknown     = errors.New("the database uses an unsupported feature")
	// ErrBusy is for a database that its program is changing, or stopped in the middle of a change.
	ErrBusy = errors.New("another process is writing the database")
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

const (
	magic      = "SQLite format 3\x00"
	headerSize = 100 // of a database, at the beginning of page 1
	utf8Text   = 1
)

// Recognize reports whether a file whose first bytes are head is a database.
func Recognize(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// A snapshot is a database at one moment.
type snapshot struct {
	file   *os.File
	name   string
	page   int64 // bytes of a page
	usable int   // bytes of a page that are used
	pages  uint32
	log    *walLog // nil when there is none

	info   fs.FileInfo // of file, when it was opened
	change [4]byte     // the counter of changes that are made without a log
	read   []uint64    // a bit for each page that was read from file, not from the log
}

func (s *snapshot) close() error {
	if s.log != nil {
		return errors.Join(s.file.Close(), s.log.file.Close())
	}
	return s.file.Close()
}

// open records the state of the database at this moment.
func (s *snapshot) open() (err error) {
	if hot, err := s.hasJournal(); err != nil || hot {
		return errors.Join(err, busy(hot))
	}
	if s.info, err = s.file.Stat(); err != nil {
		return err
	}
	header := make([]byte, headerSize)
	n, err := s.file.ReadAt(header, 0)
	copy(s.change[:], header[24:])
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		// New, with everything in the log.
	case errors.Is(err, io.EOF) || err == nil && !Recognize(header):
		return ErrNotDatabase
	case err != nil:
		return err
	}
	if s.log, err = openLog(s.name + "-wal"); err != nil {
		return err
	}
	if s.log != nil {
		if frame, ok := s.log.frames[1]; ok {
			if err := s.log.readAt(header, frame, 0); err != nil {
				return err
			}
		}
	}
	return s.judge(header)
}

func busy(hot bool) error {
	if hot {
		return ErrBusy
	}
	return nil
}

// judge reads from the header what reading needs.
func (s *snapshot) judge(header []byte) error {
	if !Recognize(header) {
		return ErrNotDatabase
	}
	s.page = int64(binary.BigEndian.Uint16(header[16:]))
	if s.page == 1 {
		s.page = 1 << 16
	}
	s.usable = int(s.page) - int(header[20])
	if s.page < 512 || s.page&(s.page-1) != 0 || s.usable < 480 {
		return damaged("a page has %d bytes", s.page)
	}
	if header[19] > 2 {
		return fmt.Errorf("%w: format %d", ErrUnknown, header[19])
	}
	if encoding := binary.BigEndian.Uint32(header[56:]); encoding > utf8Text {
		return fmt.Errorf("%w: text in UTF-16", ErrUnknown)
	}
	count := s.info.Size() / s.page
	if s.log != nil && s.log.pages > 0 {
		if s.log.page != s.page {
			return damaged("pages of the log have %d bytes, not %d", s.log.page, s.page)
		}
		count = max(count, int64(s.log.pages))
		count = min(count, s.info.Size()/s.page+int64(len(s.log.frames)))
	}
	if count < 1 || count > 1<<32-2 {
		return damaged("it has %d pages", count)
	}
	s.pages = uint32(count)
	s.read = make([]uint64, count/64+1)
	return nil
}

// readPage reads a page into buf, which has the size of a page.
func (s *snapshot) readPage(number uint32, buf []byte) error {
	if number == 0 || number > s.pages {
		return damaged("page %d of %d is named", number, s.pages)
	}
	if s.log != nil {
		if frame, ok := s.log.frames[number]; ok {
			return s.log.readAt(buf, frame, 0)
		}
	}
	s.read[number/64] |= 1 << (number % 64)
	if _, err := s.file.ReadAt(buf, int64(number-1)*s.page); err != nil {
		if errors.Is(err, io.EOF) {
			return damaged("page %d is cut off", number)
		}
		return fmt.Errorf("read page %d: %w", number, err)
	}
	return nil
}

// hasJournal reports whether a transaction without a log is running or was never ended: the journal
// of an ended one is removed, empty, or begins with zeros.
func (s *snapshot) hasJournal() (bool, error) {
	f, err := regular.OpenFile(s.name + "-journal")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read
	var head [8]byte
	if n, err := f.ReadAt(head[:], 0); n < len(head) {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, err
	}
	return head != [8]byte{}, nil
}

// unchanged returns ErrBusy if another process wrote what was read since the snapshot was opened.
// Pages are overwritten in the file either without a log, which changes its counter or leaves a
// journal, or from the log.
func (s *snapshot) unchanged() error {
	hot, err := s.hasJournal()
	if err != nil || hot {
		return errors.Join(err, busy(hot))
	}
	if s.log != nil {
		same, err := s.log.sameBut(s.wasRead)
		return errors.Join(err, busy(err == nil && !same))
	}
	if log, err := openLog(s.name + "-wal"); err != nil || log != nil {
		if log != nil {
			err = log.file.Close()
		}
		return errors.Join(busy(log != nil), err)
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	var change [4]byte
	if _, err := s.file.ReadAt(change[:], 24); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	same := change == s.change && info.Size() == s.info.Size() &&
		info.ModTime().Equal(s.info.ModTime())
	return busy(!same)
}

func (s *snapshot) wasRead(number uint32) bool {
	return int(number/64) < len(s.read) && s.read[number/64]>>(number%64)&1 == 1
}
