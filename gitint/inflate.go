package gitint

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zlib"
)

// An inflater decompresses one object after the other: what a decompressor needs is made once.
// What comes out is not held against the checksum, since the caller compares it with the name of
// the object.
type inflater struct {
	zip io.ReadCloser // nil before the first
	src bytes.Reader
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

// fill fills dst with what the zlib stream at the beginning of src gives. There may be more of
// both.
func (z *inflater) fill(dst, src []byte) error {
	z.src.Reset(src)
	r, err := z.from(&z.src)
	if err == nil {
		_, err = io.ReadFull(r, dst)
	}
	return err
}
