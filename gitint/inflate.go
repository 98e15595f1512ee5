package gitint

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zlib"
)

// An inflater decompresses objects whose size is known, one after the other: what a
// decompressor needs is made once. What comes out is not held against the checksum, since the
// caller compares it with the name of the object.
type inflater struct {
	src bytes.Reader
	zip io.ReadCloser // nil before the first
}

// inflate fills dst from the zlib stream at the beginning of src.
func (z *inflater) inflate(dst, src []byte) error {
	z.src.Reset(src)
	out, err := z.from(&z.src)
	if err == nil {
		_, err = io.ReadFull(out, dst)
	}
	return err
}

// from returns what the zlib stream at the beginning of src gives, until the next is asked for.
func (z *inflater) from(src io.Reader) (_ io.Reader, err error) {
	if z.zip == nil {
		z.zip, err = zlib.NewReader(src)
	} else if again, ok := z.zip.(zlib.Resetter); ok {
		err = again.Reset(src, nil)
	}
	return z.zip, err
}
