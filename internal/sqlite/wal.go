package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/git-jp/git-jp/internal/regular"
)

const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // its last bit says that checksums are of big-endian numbers
	logVersion  = 3007000
)

// A walLog is the write-ahead log at the moment when it was opened: pages that are newer than those
// of the database.
type walLog struct {
	file   *os.File
	header [logHeader]byte
	page   int64
	pages  uint32           // of the database after the last transaction; 0 when there is none
	frames map[uint32]int64 // where the newest content of a page is
	end    int64            // of the last transaction
	check  checksum         // of everything before end
}

// openLog reads which pages a log has. It returns nil if there is no log, or an empty one.
func openLog(name string) (*walLog, error) {
	f, err := regular.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	l := &walLog{file: f, frames: map[uint32]int64{}, end: logHeader}
	ok, err := l.begin()
	if err == nil && ok {
		err = l.scan(func(page uint32, at int64) { l.frames[page] = at })
	}
	if err != nil || !ok {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// begin reads the header. A log with an incomplete header is empty.
func (l *walLog) begin() (ok bool, err error) {
	if _, err := l.file.ReadAt(l.header[:], 0); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, err
	}
	kind := binary.BigEndian.Uint32(l.header[:])
	l.check.big = kind&1 == 1
	l.check.add(l.header[:24])
	if kind&^1 != logMagic || !l.check.is(l.header[24:]) {
		return false, nil
	}
	if v := binary.BigEndian.Uint32(l.header[4:]); v != logVersion {
		return false, fmt.Errorf("%w: log of version %d", ErrUnknown, v)
	}
	l.page = int64(binary.BigEndian.Uint32(l.header[8:]))
	if l.page < 512 || l.page > 1<<16 || l.page&(l.page-1) != 0 {
		return false, damaged("a page of the log has %d bytes", l.page)
	}
	return true, nil
}

// scan calls tell for the frames of the transactions after end, and moves end behind the last of
// them. Anything after that is part of a transaction that has not ended, or is left from before.
func (l *walLog) scan(tell func(page uint32, at int64)) error {
	type frame struct {
		page uint32
		at   int64
	}
	var open []frame
	check := l.check
	in := bufio.NewReaderSize(io.NewSectionReader(l.file, l.end, 1<<62), 1<<18)
	buf := make([]byte, frameHeader+l.page)
	for at := l.end; ; at += int64(len(buf)) {
		if _, err := io.ReadFull(in, buf); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return fmt.Errorf("read %s: %w", l.file.Name(), err)
		}
		check.add(buf[:8])
		check.add(buf[frameHeader:])
		if string(buf[8:16]) != string(l.header[16:24]) || !check.is(buf[16:]) {
			return nil
		}
		open = append(open, frame{binary.BigEndian.Uint32(buf), at + frameHeader})
		if pages := binary.BigEndian.Uint32(buf[4:]); pages > 0 {
			for _, f := range open {
				tell(f.page, f.at)
			}
			open = open[:0]
			l.pages, l.end, l.check = pages, at+int64(len(buf)), check
		}
	}
}

// readAt reads from a frame.
func (l *walLog) readAt(buf []byte, frame, offset int64) error {
	if _, err := l.file.ReadAt(buf, frame+offset); err != nil {
		if errors.Is(err, io.EOF) {
			return ErrBusy // it was truncated
		}
		return fmt.Errorf("read %s: %w", l.file.Name(), err)
	}
	return nil
}

// sameBut reports whether what was read through the log is still valid: the log was not restarted,
// is still the file of this name, and no page that was read from the database itself is in the log
// since, from where it may have been written into the database.
func (l *walLog) sameBut(wasRead func(page uint32) bool) (bool, error) {
	named, err := os.Stat(l.file.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	info, err := l.file.Stat()
	if err != nil || !os.SameFile(named, info) {
		return false, err
	}
	same := true
	if err := l.scan(func(page uint32, _ int64) { same = same && !wasRead(page) }); err != nil {
		return false, err
	}
	var header [logHeader]byte
	if _, err := l.file.ReadAt(header[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return same && header == l.header, nil
}

// A checksum is the checksum of a log: sums of pairs of numbers.
type checksum struct {
	a, b uint32
	big  bool
}

func (c *checksum) add(data []byte) {
	var order binary.ByteOrder = binary.LittleEndian
	if c.big {
		order = binary.BigEndian
	}
	for ; len(data) >= 8; data = data[8:] {
		c.a += order.Uint32(data) + c.b
		c.b += order.Uint32(data[4:]) + c.a
	}
}

func (c *checksum) is(stored []byte) bool {
	return binary.BigEndian.Uint32(stored) == c.a && binary.BigEndian.Uint32(stored[4:]) == c.b
}
