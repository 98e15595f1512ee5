package regular

import "sync"

// large is the size from which on files are not read side by side: several of those of one
// machine with many processors would be more than any of them has a limit for.
const large = 4 << 20

// IsLarge reports whether a file of this size is one of those that are looked at one at a time.
func IsLarge(size int64) bool { return size > large }

// A Turn lets one at a time have a large file in memory. The zero Turn is ready.
type Turn struct{ mu sync.Mutex }

// Take waits for its turn where the file is large, and returns what ends it.
func (t *Turn) Take(size int64) (done func()) {
	if !IsLarge(size) {
		return func() {}
	}
	t.mu.Lock()
	return t.mu.Unlock
}
