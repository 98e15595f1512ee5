package blobs

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Decode returns the content of a blob file whose bytes lie elsewhere, such as in a
// git object. It is bounded and verified as [Store.Read] is, except for the limit, which
// is the caller's.
func Decode(gz []byte, ref Ref) ([]byte, error) {
	return decode(bytes.NewReader(gz), int64(len(gz)), ref)
}

// DecodeHash is Decode where nothing says how long the content is but the file itself.
func DecodeHash(gz []byte, h Hash) ([]byte, error) {
	return Decode(gz, Ref{Hash: h, Size: statedSize(gz)})
}

// trailerBytes is the length of the size at the end of a gzip file (RFC 1952, ISIZE).
const trailerBytes = 4

// statedSize is what a gzip file says that its content has; decoding holds it to that.
func statedSize(gz []byte) int64 {
	if len(gz) < trailerBytes {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(gz[len(gz)-trailerBytes:]))
}

// Verify is Decode without keeping the content. It reads on beyond ref.Size, but not
// much beyond limit bytes of content, to tell a wrong size in the reference from a
// corrupt blob.
func Verify(gz []byte, ref Ref, limit int64) error {
	return verify(bytes.NewReader(gz), ref, limit)
}

// decode reads the file r, of about fileSize bytes.
func decode(r io.Reader, fileSize int64, ref Ref) ([]byte, error) {
	if ref.Size < 0 {
		return nil, &LimitError{Size: ref.Size}
	}
	d := decoders.Get().(*decoder)
	defer d.release()
	if err := d.open(r, ref.Hash); err != nil {
		return nil, err
	}
	b, err := d.readAll(ref, fileSize)
	if err != nil {
		return nil, err
	}
	if err := judge(Sum(b), int64(len(b)), ref); err != nil {
		return nil, err
	}
	return b, nil
}

// verify reads the file r and keeps nothing.
func verify(r io.Reader, ref Ref, limit int64) error {
	d := decoders.Get().(*decoder)
	defer d.release()
	if err := d.open(r, ref.Hash); err != nil {
		return err
	}
	var size int64
	for {
		n, err := d.read(d.buf[:])
		d.sum.Write(d.buf[:n])
		size += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			var h Hash
			d.sum.Sum(h[:0])
			return judge(h, size, ref)
		case err != nil:
			return d.damage(ref.Hash, err)
		case size > max(ref.Size, limit):
			return &SizeError{Ref: ref, Actual: -1}
		}
	}
}

// judge compares what was read with what was asked for. The hash comes first: only
// content that verifies can prove the reference wrong.
func judge(h Hash, size int64, ref Ref) error {
	if h != ref.Hash {
		return &CorruptError{Hash: ref.Hash, Reason: "its content has another hash"}
	}
	if size != ref.Size {
		return &SizeError{Ref: ref, Actual: size}
	}
	return nil
}

// A decoder holds everything that reading a blob needs but its content.
type decoder struct {
	file io.Reader
	err  error // of file, kept apart from what is wrong with its bytes
	src  *bufio.Reader
	gzip gzip.Reader
	sum  hash.Hash
	buf  [32 << 10]byte // for content that is not kept
}

// decoders keeps decoders: their tables and buffers are larger than a usual blob.
var decoders = sync.Pool{New: func() any {
	d := &decoder{sum: sha256.New()}
	d.src = bufio.NewReaderSize(d, len(d.buf))
	return d
}}

// Read reads the file below the buffer.
func (d *decoder) Read(p []byte) (int, error) {
	n, err := d.file.Read(p)
	if err != nil && err != io.EOF {
		d.err = err
	}
	return n, err
}

// open begins with the first gzip member of the file r. Where there is none, the
// error is a *PointerError or a *CorruptError.
func (d *decoder) open(r io.Reader, h Hash) error {
	d.file, d.err = r, nil
	d.src.Reset(d)
	d.sum.Reset()
	head, _ := d.src.Peek(len(gzipMagic))
	if string(head) != gzipMagic {
		return d.notGzip(h)
	}
	if err := d.nextMember(); err != nil {
		return d.damage(h, err)
	}
	return nil
}

// gzipMagic begins every gzip member.
const gzipMagic = "\x1f\x8b"

// notGzip tells a Git LFS pointer from everything else.
func (d *decoder) notGzip(h Hash) error {
	head, _ := d.src.Peek(maxPointer)
	if d.err != nil {
		return d.err
	}
	if oid, size, ok := ParsePointer(head); ok {
		return &PointerError{Hash: h, OID: oid, Size: size}
	}
	if len(head) == 0 {
		return &CorruptError{Hash: h, Reason: "its file is empty"}
	}
	return &CorruptError{Hash: h, Reason: "its file is not gzip"}
}

// nextMember goes to the next gzip member, or returns io.EOF. Members are taken one
// by one, because the library takes a second header that is cut off within a name
// for a clean end.
func (d *decoder) nextMember() error {
	if _, err := d.src.Peek(1); err != nil {
		return err
	}
	if err := d.gzip.Reset(d.src); err != nil {
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	d.gzip.Multistream(false)
	return nil
}

// read returns some content, at least one byte without an error. io.EOF means that
// the whole file was read and was well-formed.
func (d *decoder) read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		n, err = d.gzip.Read(p)
		if errors.Is(err, io.EOF) {
			err = d.nextMember()
		}
	}
	return n, err
}

// Before a byte is read, a reference is trusted with minBuffer, and together with the
// size of the file with maxBuffer.
const (
	minBuffer = 64 << 10
	maxBuffer = 1 << 20
)

// readAll returns the content, if it is not longer than ref says. Buffers grow with
// what was really read: neither ref nor the file can make us allocate much more than
// the content is.
func (d *decoder) readAll(ref Ref, fileSize int64) ([]byte, error) {
	hint := max(minBuffer, min(maxBuffer, 8*min(fileSize, maxBuffer)))
	b := make([]byte, 0, min(ref.Size, hint))
	for int64(len(b)) < ref.Size {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(ref.Size, 4*int64(cap(b)))), b...)
		}
		n, err := d.read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, d.damage(ref.Hash, err)
		}
	}
	return b, d.expectEnd(ref)
}

// expectEnd reads to the end of the file, which also checks the last member's sum.
func (d *decoder) expectEnd(ref Ref) error {
	n, err := d.read(d.buf[:1])
	switch {
	case n > 0:
		return &SizeError{Ref: ref, Actual: -1}
	case !errors.Is(err, io.EOF):
		return d.damage(ref.Hash, err)
	default:
		return nil
	}
}

// damage tells errors of reading the file from errors in its bytes.
func (d *decoder) damage(h Hash, err error) error {
	switch {
	case d.err != nil:
		return d.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &CorruptError{Hash: h, Reason: "its file ends early", Err: io.ErrUnexpectedEOF}
	default:
		return &CorruptError{Hash: h, Reason: "its file does not decompress", Err: err}
	}
}

// release gives d back, without keeping the file or its bytes alive.
func (d *decoder) release() {
	d.file = nil
	decoders.Put(d)
}
