package regular

import "sync"

// large is the size above which files are not read in parallel: several of them, on a machine with
// many processors, would exceed any limit for a single one.
const large = 4 << 20

// IsLarge reports whether files of this size are read one at a time.
func IsLarge(size int64) bool { return size > large }

// A Turn allows one large file at a time in memory. The zero Turn is ready to use.
type Turn struct{ mu sync.Mutex }

// Take waits for the turn if the file is large, and returns the function that ends it.
func (t *Turn) Take(size int64) (done func()) {
	if !IsLarge(size) {
		return func() {}
	}
	t.mu.Lock()
	return t.mu.Unlock
}
