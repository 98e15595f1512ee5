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
func (z *inflater) inflate(dst, src []byte) (err error) {
	z.src.Reset(src)
	if z.zip == nil {
		z.zip, err = zlib.NewReader(&z.src)
	} else if again, ok := z.zip.(zlib.Resetter); ok {
		err = again.Reset(&z.src, nil)
	}
	if err == nil {
		_, err = io.ReadFull(z.zip, dst)
	}
	return err
}
