package regular

import (
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strings"
)

// Limits of how much of a file is read, by its type.
const (
	// MaxStream is the default limit of a stream: 35 times the largest that was seen.
	MaxStream = 64 << 20
	// MaxSettings is the limit of a configuration file, of a base_config.json and of a
	// metadata.json.
	MaxSettings = 1 << 20
	// MaxNote is the limit of a file with a name or a line: an id, a HEAD, a hook.
	MaxNote = 1 << 20
	// MaxOther is the limit of any other file that is read completely.
	MaxOther = 64 << 20
	// MaxOwn is the limit of files that this program wrote for itself, where no other user and no
	// clone adds files: a quarantined copy can be restored even if a limit became smaller.
	MaxOwn = 1 << 30
	// Unbounded is for callers that read in portions.
	Unbounded = math.MaxInt64
)

// maxBlob is the default limit of a blob, as in package blobs.
const maxBlob = 50 << 20

// Limits are the limits of files in a workspace, on disk and in git. The zero value has the
// defaults. The user sets them: committed settings do not apply.
type Limits struct {
	Stream int64 // of an events.json
	Blob   int64 // of a blob, before it is compressed
}

// OfStream returns the limit of a stream.
func (l Limits) OfStream() int64 {
	if l.Stream > 0 {
		return l.Stream
	}
	return MaxStream
}

// ofBlob returns the limit of a blob's file. Incompressible content becomes longer.
func (l Limits) ofBlob() int64 {
	n := l.Blob
	if n <= 0 {
		n = maxBlob
	}
	const head = 64 << 10
	return n + n/64 + head
}

// Of returns the limit of a file below .jp, by its name.
func (l Limits) Of(name string) int64 {
	switch base := path.Base(filepath.ToSlash(name)); {
	case strings.HasPrefix(base, "events.json"), base == "messages.json":
		return l.OfStream() // also of a copy that a user keeps beside it
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

// OfAny returns the limit for files of unknown type: the largest one.
func (l Limits) OfAny() int64 { return max(l.OfStream(), l.ofBlob(), MaxOther) }

// A SizeError says that a file exceeds the limit.
type SizeError struct{ Size, Max int64 }

// Error has both sizes.
func (e *SizeError) Error() string {
	size, limit := bytesOf(e.Size), bytesOf(e.Max)
	if size == limit { // rounded
		size = fmt.Sprintf("%d bytes", e.Size)
	}
	return fmt.Sprintf("file too large: %s, limit %s", size, limit)
}

// bytesOf formats a size; one that is not a whole number of units gets one decimal.
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
