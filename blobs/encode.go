package blobs

import (
	"bytes"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

const (
	gzipLevel     = 6   // best size before the time for it multiplies
	gzipUnknownOS = 255 // the same on every system
)

// encoders keeps writers, each a megabyte of tables that costs more to make than a
// usual blob costs to compress.
var encoders = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzipLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return z
}}

// Encode returns the canonical file of content b: one gzip member at level 6, without
// name, comment, extra field or time. Equal content gives equal bytes, with this
// version of the compressor, on every system.
func Encode(b []byte) []byte {
	z := encoders.Get().(*gzip.Writer)
	defer encoders.Put(z)
	var buf bytes.Buffer
	buf.Grow(64 + len(b)/3)
	z.Reset(&buf)
	// Without a time the library writes the year 2042: the zero time.Time cut to
	// 32 bits. Reset forgets the header, so this is not done once.
	z.ModTime, z.OS = time.Unix(0, 0), gzipUnknownOS
	_, err := z.Write(b)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // a buffer does not fail
	}
	return buf.Bytes()
}
