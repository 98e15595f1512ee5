package blobs

// DefaultMaxBlobBytes is the limit if none is configured.
const DefaultMaxBlobBytes = 50 << 20

// Limits limits the size of the content that is written and read.
type Limits struct {
	MaxBlobBytes int64 // of uncompressed content; 0 means DefaultMaxBlobBytes
}

// Max returns the effective limit.
func (l Limits) Max() int64 {
	if l.MaxBlobBytes > 0 {
		return l.MaxBlobBytes
	}
	return DefaultMaxBlobBytes
}

// Check returns a *[LimitError] when size is negative or over the limit.
func (l Limits) Check(size int64) error {
	if size < 0 || size > l.Max() {
		return &LimitError{Size: size, Max: l.Max()}
	}
	return nil
}
