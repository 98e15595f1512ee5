package blobs

import (
	"bytes"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

const (
	gzipLevel     = 6   // the best compression before the time multiplies
	gzipUnknownOS = 255 // the same on every system
)

// encoders pools writers: each has a megabyte of tables, which take longer to allocate than most
// blobs take to compress.
var encoders = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzipLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return z
}}

// Encode returns the canonical file of content b: one gzip member at level 6, without name,
// comment, extra field or time. Equal content gives equal bytes on every system, with this version
// of the compressor.
func Encode(b []byte) []byte {
	z := encoders.Get().(*gzip.Writer)
	defer encoders.Put(z)
	var buf bytes.Buffer
	buf.Grow(64 + len(b)/3)
	z.Reset(&buf)
	// Without a time the library writes the year 2042: the zero time.Time truncated to 32 bits.
	// Reset clears the header, so it is set each time.
	z.ModTime, z.OS = time.Unix(0, 0), gzipUnknownOS
	_, err := z.Write(b)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // writing to a buffer does not fail
	}
	return buf.Bytes()
}
