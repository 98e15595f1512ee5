package quarantine

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/regular"
)

// A ChangedError reports a conversation that was changed where a copy differs from it, or redacted.
type ChangedError struct {
	Dir string // of the copy
}

// Error implements error.
func (e *ChangedError) Error() string { return "it was changed in the same places since" }

// Hints says where the former conversation is.
func (e *ChangedError) Hints() []string { return []string{"what it was is kept in " + e.Dir} }

// readResult reads what a conversation was compacted to.
func readResult(dir string) (*events.Stream, error) {
	data, err := regular.ReadFile(filepath.Join(dir, resultFile), regular.MaxOwn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return events.Decode(data)
}

// Restored returns a conversation with the change undone: its former elements, followed by the
// elements that were added since. If it does not begin with the result of the change any more, what
// was changed since is merged with the former elements. The error is ErrNone if the change is
// undone already, and a [ChangedError] if the conversation was changed where the change was, or
// redacted since: the copy may have what the redaction removed.
func (c Copy) Restored(now *events.Stream) (*events.Stream, error) {
	if c.begins(now) {
		out := c.Stream.Clone()
		for i := c.record.Elements; i < now.Len(); i++ {
			out.Append(now.At(i))
		}
		return out, nil
	}
	if n := c.Stream.Len(); c.result == nil && now.Len() >= n && sum(now, n) == sum(c.Stream, n) {
		return nil, ErrNone
	}
	if c.result == nil || redacted(now) > redacted(c.result) {
		return nil, &ChangedError{c.Dir}
	}
	merged, err := threeway.Merge(threeway.Side{Stream: c.unmarked(c.result)},
		threeway.Side{Stream: c.unmarked(now)}, threeway.Side{Stream: c.Stream})
	switch {
	case err != nil:
		return nil, err
	case len(merged.Conflicts) > 0:
		return nil, &ChangedError{c.Dir}
	case sameElements(merged.Stream, now):
		return nil, ErrNone
	}
	return merged.Stream, nil
}

// unmarked returns a stream with the former mark, if any, in place of that which a compaction left
// on an event, so that other metadata of the event can be merged. The event of the result is the
// former one then.
func (c Copy) unmarked(s *events.Stream) *events.Stream {
	mark, ok := markOf(c.result)
	was, had := markOf(c.Stream)
	if !ok {
		return s
	}
	out := s.Clone()
	for i, e := range s.All() {
		v, marked := e.Metadata().Value(events.MetadataCompacted)
		if !marked || !bytes.Equal(v, mark) {
			continue
		}
		md := e.Metadata().Without(events.MetadataCompacted)
		if had {
			md = e.Metadata().With(events.MetadataCompacted, was)
		}
		e = e.WithMetadata(md)
		if s == c.result {
			e = formerly(e, c.Stream)
		}
		out.Set(i, e)
	}
	return out
}

// formerly returns the first element of a stream that is equal to e, or else e.
func formerly(e *events.Element, s *events.Stream) *events.Element {
	for _, was := range s.All() {
		if events.Equal(was, e) {
			return was
		}
	}
	return e
}

func markOf(s *events.Stream) ([]byte, bool) {
	for _, e := range s.All() {
		if v, ok := e.Metadata().Value(events.MetadataCompacted); ok {
			return v, true
		}
	}
	return nil, false
}

// begins reports whether a conversation begins with the result of the change, with the same
// metadata if the copy has it. Saving the result may have moved content to the store.
func (c Copy) begins(now *events.Stream) bool {
	n := c.record.Elements
	if now.Len() < n {
		return false
	}
	if c.result == nil {
		return sum(now, n) == c.record.Sum
	}
	for i, e := range c.result.All() {
		if !unchanged(e, now.At(i)) {
			return false
		}
	}
	return true
}

// unchanged reports whether two elements are equal and have the same metadata, also that which
// equality leaves out.
func unchanged(a, b *events.Element) bool {
	if bytes.Equal(a.Raw(), b.Raw()) {
		return true
	}
	keys := a.Metadata().Keys()
	if !events.Equal(a, b) || len(keys) != b.Metadata().Len() {
		return false
	}
	return !slices.ContainsFunc(keys, func(key string) bool {
		v, _ := a.Metadata().Value(key)
		w, ok := b.Metadata().Value(key)
		return !ok || !bytes.Equal(v, w)
	})
}

// redacted returns how many elements of a stream have a mark of a redaction.
func redacted(s *events.Stream) (n int) {
	for _, e := range s.All() {
		if _, ok := e.Metadata().Value(events.MetadataRedacted); ok {
			n++
		}
	}
	return n
}

func sameElements(a, b *events.Stream) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i, e := range a.All() {
		if !events.Equal(e, b.At(i)) {
			return false
		}
	}
	return true
}
