package gitint

import (
	"io"

	"github.com/klauspost/compress/zlib"
)

// An inflater decompresses what is read, one object after the other: what a decompressor needs is
// made once. What comes out is not held against the checksum, since the caller compares it with
// the name of the object. Objects that are in memory are for a [decompressor].
type inflater struct {
	zip io.ReadCloser // nil before the first
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
