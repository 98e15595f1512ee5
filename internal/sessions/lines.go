package sessions

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"
)

const (
	// MaxLine is the longest line that is read. An image of 20 MB needs a line of 27 MB.
	MaxLine = 128 << 20
	// MaxUnpacked limits the uncompressed size of a compressed source.
	MaxUnpacked = 8 << 30
	// MaxRows limits the size of a session's rows in a database. They are read as one snapshot, so
	// they are in memory together.
	MaxRows = 256 << 20
	// maxWindow limits the memory for decompression; zstd at level 3 needs 2 MiB.
	maxWindow = 64 << 20
)

// ErrUnpacked reports a compressed source that is larger than MaxUnpacked.
var ErrUnpacked = fmt.Errorf("it unpacks to more than %d bytes", int64(MaxUnpacked))

// ErrRows reports a session whose rows are larger than MaxRows.
var ErrRows = fmt.Errorf("its messages are more than %d bytes", MaxRows)

// maxValues limits the JSON values in a record: each may be in memory several times, as it was read
// and as it was converted.
const maxValues = 100_000

var errManyValues = fmt.Errorf("it has more than %d values", maxValues)

var errLongLine = fmt.Errorf("it is longer than %d bytes", MaxLine)

// zstdMagic begins a frame (RFC 8878, 3.1.1).
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// IsPacked reports whether head begins a file compressed with zstd.
func IsPacked(head []byte) bool { return bytes.HasPrefix(head, zstdMagic) }

// Unpack returns a reader of what a compressed file has.
func Unpack(r io.Reader) (*zstd.Decoder, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(MaxUnpacked))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return d, nil
}

// Lines reads a file of one record a line, plain or compressed with zstd.
type Lines struct {
	*lineReader
	unpack *zstd.Decoder
	sum    hash.Hash
	length int64 // bytes that Next has returned or skipped, with line feeds
	number int
}

// NewLines returns a reader of r, limited to until bytes unless that is 0. The bytes are counted
// after decompression. The caller must close it.
func NewLines(r io.Reader, until int64) (*Lines, error) {
	l := &Lines{sum: sha256.New()}
	in := bufio.NewReaderSize(r, len(zstdMagic))
	if head, _ := in.Peek(len(zstdMagic)); IsPacked(head) {
		d, err := Unpack(in)
		if err != nil {
			return nil, err
		}
		l.unpack = d
		r = &bounded{d, MaxUnpacked}
	} else {
		r = in
	}
	if until > 0 {
		r = io.LimitReader(r, until)
	}
	l.lineReader = readers.Get().(*lineReader)
	l.in.Reset(r)
	return l, nil
}

// A lineReader has the memory with which a file is read.
type lineReader struct {
	in   *bufio.Reader
	long []byte // buffer for a line that exceeds that of in
}

// readers holds readers that closed files no longer need.
var readers = sync.Pool{New: func() any {
	return &lineReader{in: bufio.NewReaderSize(nil, lineRoom)}
}}

// Close releases the buffer of the last line and the resources of decompression.
func (l *Lines) Close() {
	l.in.Reset(nil)
	if cap(l.long) > maxKept {
		l.long = nil
	}
	readers.Put(l.lineReader)
	l.lineReader = nil
	if l.unpack != nil {
		l.unpack.Close()
	}
}

// lineRoom is the longest line that is not copied.
const lineRoom = 1 << 16

// Next returns the next line without its end, and its number, and without what no record begins
// with: a crash may leave zero bytes at the end of a file, before the record that the agent appends
// next, and an editor puts a byte order mark at the beginning of a file. The line is valid until
// the next call. A last line without a line feed counts only if complete accepts it: otherwise the
// agent is still writing it. At the end the error is [io.EOF]. A line that is too long is a
// *[LineError], and the next call continues after it.
func (l *Lines) Next(complete func([]byte) bool) (line []byte, number int, err error) {
	if line = l.long[:0]; cap(line) > maxKept {
		line = nil
	}
	for {
		part, err := l.in.ReadSlice('\n')
		switch {
		case len(line)+len(part) > MaxLine:
			l.take(line)
			return nil, l.number + 1, l.skip(part, err)
		case errors.Is(err, bufio.ErrBufferFull):
			line = append(line, part...)
			l.long = line
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, l.number + 1, fmt.Errorf("read line %d: %w", l.number+1, err)
		}
		if len(line) > 0 {
			line = append(line, part...)
			l.long = line
		} else {
			line = part
		}
		if len(line) == 0 {
			return nil, l.number, io.EOF
		}
		text := bytes.TrimSpace(line)
		if rest := bytes.TrimLeft(text, "\x00\uFEFF"); len(rest) > 0 {
			text = rest
		}
		if err != nil && !complete(text) {
			return nil, l.number, io.EOF
		}
		l.take(line)
		l.number++
		return text, l.number, nil
	}
}

// maxKept limits the buffer that is kept from a long line for the next one.
const maxKept = 4 << 20

// Record is [Lines.Next] for a record of an agent. A record with too many values is a *[LineError]
// too.
func (l *Lines) Record() (line []byte, number int, err error) {
	line, number, err = l.Next(Complete)
	if err == nil && hasMany(line) {
		return nil, number, &LineError{number, errManyValues}
	}
	return line, number, err
}

// hasMany reports whether a JSON text has more values than a record may have. It counts commas,
// which separate values, and parses only a text with many of them, since strings have commas too.
func hasMany(text []byte) bool {
	if bytes.Count(text, []byte{','}) < maxValues/2 {
		return false
	}
	dec := jsontext.NewDecoder(bytes.NewReader(text), lax)
	for n := 0; n <= maxValues; n++ {
		if _, err := dec.ReadToken(); err != nil {
			return false
		}
	}
	return true
}

func (l *Lines) take(b []byte) {
	l.sum.Write(b)
	l.length += int64(len(b))
}

// skip reads to the end of a line that is too long. A line without an end is not complete yet.
func (l *Lines) skip(part []byte, err error) error {
	l.take(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.in.ReadSlice('\n')
		l.take(part)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	l.number++
	return &LineError{l.number, errLongLine}
}

// Version returns the version for the bytes read so far.
func (l *Lines) Version() Version { return VersionOf(l.length, [sha256.Size]byte(l.sum.Sum(nil))) }

// A LineError reports a line that could not be read. The lines after it can be.
type LineError struct {
	Number int
	Err    error
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Number, e.Err) }

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// A bounded reader fails with [ErrUnpacked] after its limit.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, ErrUnpacked
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
