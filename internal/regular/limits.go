package regular

import (
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strings"
)

// How much is read of a file at most, by what it is.
const (
	// MaxStream is that of a stream where the user sets no other: 35 times the largest that
	// was seen.
	MaxStream = 64 << 20
	// MaxSettings is that of a configuration file, of a base_config.json and of a metadata.json.
	MaxSettings = 1 << 20
	// MaxNote is that of a file which has a name in it, or a line: an id, a HEAD, a hook.
	MaxNote = 1 << 20
	// MaxOther is that of whatever else is read as a whole.
	MaxOther = 64 << 20
	// MaxOwn is that of what this program wrote for itself, where no other user and no clone
	// brings files: whatever was put aside can be had back, also when a limit became smaller.
	MaxOwn = 1 << 30
	// Unbounded is for those who read in portions.
	Unbounded = math.MaxInt64
)

// maxBlob is the largest content where the user sets no other, as in package blobs.
const maxBlob = 50 << 20

// Limits are how large files of a workspace may be that are read, on disk and in Git. The zero
// value has the defaults. They are the user's: what a stranger committed says nothing here.
type Limits struct {
	Stream int64 // of an events.json
	Blob   int64 // of a content, before it is compressed
}

// OfStream is the limit of a stream.
func (l Limits) OfStream() int64 {
	if l.Stream > 0 {
		return l.Stream
	}
	return MaxStream
}

// ofBlob is the limit of the file of a content. What cannot be compressed becomes longer.
func (l Limits) ofBlob() int64 {
	n := l.Blob
	if n <= 0 {
		n = maxBlob
	}
	const head = 64 << 10
	return n + n/64 + head
}

// Of is the limit of a file below .jp, by its name.
func (l Limits) Of(name string) int64 {
	switch base := path.Base(filepath.ToSlash(name)); {
	case strings.HasPrefix(base, "events.json"), base == "messages.json":
		return l.OfStream() // a copy that somebody keeps beside it too
	case strings.HasSuffix(base, ".blob.gz"):
		return l.ofBlob()
	case isSettings(base):
		return MaxSettings
	case strings.HasPrefix(base, "."):
		return MaxNote
	default:
		return MaxOther
	}
}

func isSettings(base string) bool {
	switch path.Ext(base) {
	case ".toml", ".json5", ".yaml", ".yml":
		return true
	case ".json":
		return base == "metadata.json" || base == "base_config.json" ||
			strings.HasPrefix(base, "config") || strings.HasPrefix(base, ".jp")
	}
	return false
}

// OfAny is the limit of what is known by no name: that of the largest.
func (l Limits) OfAny() int64 { return max(l.OfStream(), l.ofBlob(), MaxOther) }

// A SizeError says that a file is larger than anybody wants to read.
type SizeError struct{ Size, Max int64 }

// Error names both sizes.
func (e *SizeError) Error() string {
	size, limit := bytesOf(e.Size), bytesOf(e.Max)
	if size == limit { // rounded
		size = fmt.Sprintf("%d bytes", e.Size)
	}
	return fmt.Sprintf("it has %s, and at most %s are read", size, limit)
}

// bytesOf is a size as people read it; what is no whole number of a unit has one digit more.
func bytesOf(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d bytes", n)
	}
	f, i := float64(n)/unit, 0
	for ; f >= unit && i < 3; i++ {
		f /= unit
	}
	return strings.Replace(fmt.Sprintf("%.1f %ciB", f, "KMGT"[i]), ".0 ", " ", 1)
}
