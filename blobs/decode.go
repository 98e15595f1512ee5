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

// Decode returns the content of a blob file that is not in a store, such as a git object. It is
// bounded and verified as by [Store.Read], but without a limit, which is up to the caller.
func Decode(gz []byte, ref Ref) ([]byte, error) {
	return decode(bytes.NewReader(gz), int64(len(gz)), ref)
}

// DecodeHash is like Decode, but takes the size of the content from the file itself.
func DecodeHash(gz []byte, h Hash) ([]byte, error) {
	return Decode(gz, Ref{Hash: h, Size: statedSize(gz)})
}

// trailerBytes is the length of the size at the end of a gzip file (RFC 1952, ISIZE).
const trailerBytes = 4

// statedSize returns the content size that a gzip file states; decoding verifies it.
func statedSize(gz []byte) int64 {
	if len(gz) < trailerBytes {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(gz[len(gz)-trailerBytes:]))
}

// Verify is like Decode, but does not keep the content. It reads beyond ref.Size, but not much more
// than limit bytes of content, to distinguish a wrong size in the reference from a corrupt blob.
func Verify(gz []byte, ref Ref, limit int64) error {
	return verify(bytes.NewReader(gz), ref, limit)
}

// IsFileOf reports whether gz is a file of a blob: whether its content has the hash. It does not
// keep the content. A file of several gzip members is none, because only the last one states its
// size, which bounds the reading.
func IsFileOf(gz []byte, h Hash) bool {
	return Verify(gz, Ref{Hash: h, Size: statedSize(gz)}, 0) == nil
}

// decode decodes the file r, of about fileSize bytes.
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

// verify verifies the file r without keeping its content.
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

// judge compares the content that was read with the reference. The hash is compared first: only
// content with the right hash can prove the reference's size wrong.
func judge(h Hash, size int64, ref Ref) error {
	if h != ref.Hash {
		return &CorruptError{Hash: ref.Hash, Reason: "its content has another hash"}
	}
	if size != ref.Size {
		return &SizeError{Ref: ref, Actual: size}
	}
	return nil
}

// A decoder holds everything that reading a blob needs except its content.
type decoder struct {
	file io.Reader
	err  error // the read error of file, as opposed to damage in its bytes
	src  *bufio.Reader
	gzip gzip.Reader
	sum  hash.Hash
	buf  [32 << 10]byte // for content that is not kept
}

// decoders pools decoders, because their tables and buffers are larger than most blobs.
var decoders = sync.Pool{New: func() any {
	d := &decoder{sum: sha256.New()}
	d.src = bufio.NewReaderSize(d, len(d.buf))
	return d
}}

// Read reads the file, below the buffer src.
func (d *decoder) Read(p []byte) (int, error) {
	n, err := d.file.Read(p)
	if err != nil && err != io.EOF {
		d.err = err
	}
	return n, err
}

// open starts reading the first gzip member of the file r. If there is none, the error is a
// *PointerError or a *CorruptError.
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

// notGzip returns the error of a file that is not gzip: a *PointerError for a Git LFS pointer,
// otherwise a *CorruptError.
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

// nextMember starts the next gzip member, or returns io.EOF. Members are read one by one, because
// the library takes a second header that is truncated within a name for a clean end.
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

// read returns at least one byte of content or an error. io.EOF means that the complete file was
// read and was well-formed.
func (d *decoder) read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		n, err = d.gzip.Read(p)
		if errors.Is(err, io.EOF) {
			err = d.nextMember()
		}
	}
	return n, err
}

// The largest buffer that is allocated before anything is read: minBuffer if only the reference
// claims that size, maxBuffer if the size of the file supports it.
const (
	minBuffer = 64 << 10
	maxBuffer = 1 << 20
)

// readAll returns the content if it is not longer than ref says. Buffers grow with the bytes that
// were really read: neither ref nor the file can make it allocate much more than the size of the
// content.
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

// expectEnd reads to the end of the file, which also verifies the last member's checksum.
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

// damage distinguishes errors of reading the file from errors in its bytes.
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

// release returns d to the pool without its file.
func (d *decoder) release() {
	d.file = nil
	decoders.Put(d)
}
