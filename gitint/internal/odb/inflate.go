package odb

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
)

// An inflater decompresses objects one after the other and reuses the decompressor. It does not
// verify the checksum, since the caller compares the content with the name of the object.
type inflater struct {
	zip io.ReadCloser // of files; nil before the first
	raw io.ReadCloser // of what is in memory, likewise
	src bytes.Reader
}

// from returns a reader of the decompressed zlib stream at the beginning of src, valid until the
// next call.
func (z *inflater) from(src io.Reader) (_ io.Reader, err error) {
	if z.zip == nil {
		z.zip, err = zlib.NewReader(src)
	} else if again, ok := z.zip.(zlib.Resetter); ok {
		err = again.Reset(src, nil)
	}
	return z.zip, err
}

// fill fills dst from the zlib stream at the beginning of src. Both may be longer. It does not
// compute the checksum, which is not compared.
func (z *inflater) fill(dst, src []byte) error {
	const head = 2
	if len(src) < head || !isZlib(src[0], src[1]) {
		return zlib.ErrHeader
	}
	z.src.Reset(src[head:])
	if z.raw == nil {
		z.raw = flate.NewReader(&z.src)
	} else if again, ok := z.raw.(flate.Resetter); ok {
		if err := again.Reset(&z.src, nil); err != nil {
			return err
		}
	}
	_, err := io.ReadFull(z.raw, dst)
	return err
}

// isZlib reports whether these bytes begin a zlib stream without a dictionary.
func isZlib(method, flags byte) bool {
	const deflate, widest, dictionary, divisor = 8, 7, 1 << 5, 31
	return method&0xf == deflate && method>>4 <= widest && flags&dictionary == 0 &&
		(int(method)<<8|int(flags))%divisor == 0
}
