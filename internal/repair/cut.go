package repair

import (
	"bytes"
	"fmt"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A cutFile is a file that cannot be loaded, with the versions of it that exist elsewhere. If it
// was truncated, they may have all of it, or lack the events that were written last.
type cutFile struct {
	name string
	stub []byte // without the zero bytes that a power failure leaves

	rest   []byte         // the complete elements of a truncated stream
	stream *events.Stream // the same, decoded; nil if there are none

	whole    *loaded // the version that begins with the stub
	newest   *loaded
	covering *loaded // the newest version that begins with the complete elements
}

// A loaded is a version that can be loaded.
type loaded struct {
	version

	data   []byte
	stream *events.Stream // nil for other files
}

func newCutFile(name string, damaged []byte) *cutFile {
	c := &cutFile{name: name, stub: bytes.TrimRight(damaged, "\x00")}
	if name != workspace.EventsFile {
		return c
	}
	if rest, ok := events.Salvage(c.stub); ok {
		c.rest = rest
		c.stream, _ = events.Decode(rest) // the salvaged bytes decode
	}
	return c
}

// compare examines a version and reports whether no other is needed.
func (c *cutFile) compare(v version, data []byte) bool {
	if !Loads(c.name, data) {
		return false
	}
	one := &loaded{version: v, data: data}
	if c.stream != nil {
		one.stream, _ = events.Decode(data) // cannot fail: it loads
	}
	if bytes.HasPrefix(data, c.stub) {
		c.whole = one
		return true
	}
	if c.newest == nil {
		c.newest = one
	}
	if c.covering == nil && c.stream != nil && begins(one.stream, c.stream) {
		c.covering = one
	}
	return false
}

// salvaged reports whether the complete elements of the stream include everything of every version,
// so that no version would be better.
func (c *cutFile) salvaged() bool {
	return c.stream != nil && c.covering == nil &&
		(c.newest == nil || contains(c.stream, c.newest.stream))
}

// best returns the version to offer.
func (c *cutFile) best() *loaded {
	if c.covering != nil {
		return c.covering
	}
	return c.newest
}

// completed describes the repair with the version that begins with the stub.
func (c *cutFile) completed() string {
	if len(c.stub) == 0 {
		return "take it from " + c.whole.title()
	}
	return "complete it from " + c.whole.title() + ", of which it is the beginning"
}

// ended describes the repair of a stream that no version completes.
func (c *cutFile) ended() string {
	text := fmt.Sprintf("truncate it after its last complete event, in turn %d",
		len(c.stream.Turns()))
	if c.newest == nil {
		return text
	}
	return fmt.Sprintf("%s; the newest version that loads, in %s, ends in turn %d",
		text, c.newest.title(), len(c.newest.stream.Turns()))
}

func (c *cutFile) offered() string {
	return "the newest version that loads is in " + c.best().title()
}

// lacking describes how much of the file the newest version lacks.
func (c *cutFile) lacking() string {
	known := make(map[blobs.Hash]bool, c.newest.stream.Len())
	for _, e := range c.newest.stream.All() {
		known[e.Sum()] = true
	}
	n := 0
	for _, e := range c.stream.All() {
		if !known[e.Sum()] {
			n++
		}
	}
	if n == 1 {
		return "1 event of this file"
	}
	return fmt.Sprintf("%d events of this file", n)
}

// begins reports whether a stream begins with the elements of another.
func begins(s, first *events.Stream) bool {
	if s.Len() < first.Len() {
		return false
	}
	for i, e := range first.All() {
		if !events.Equal(s.At(i), e) {
			return false
		}
	}
	return true
}
