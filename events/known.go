package events

// known caches facts about the first n items of a stream: none of them is broken or has content to
// store, and their sizes are counted. Saving one event of a long stream must not cost a look at the
// thousands before it.
type known struct {
	n       int
	size    int   // of the encoded items
	largest int64 // see [Element.largest]

	counted    int // number of items whose containers are counted
	containers int // number of containers in those items
}

// learn examines the items after the first n, up to one with content to store.
func (s *Stream) learn() {
	k := &s.known
	for _, it := range s.items[k.n:] {
		if it.el.isBroken() || it.el.toStore(ExternalizeOptions{}) {
			break
		}
		k.n++
		k.size += it.size()
		k.largest = max(k.largest, it.el.largest)
	}
	if s.size() < roomy {
		return
	}
	for _, it := range s.items[k.counted:k.n] {
		k.containers += it.el.containers()
	}
	k.counted = k.n
}

// Validate reports why the stream cannot be saved: an element was built from something that the
// format does not have, or its bytes do not read back. The error is a [*SyntaxError].
func (s *Stream) Validate() error { return s.ValidateWith(DecodeOptions{}) }

// ValidateWith is [Stream.Validate] with the limits of o.
func (s *Stream) ValidateWith(o DecodeOptions) error {
	for i := s.known.n; i < len(s.items); i++ {
		if err := s.At(i).err; err != nil {
			return s.ErrorAt(i, err)
		}
	}
	if s.decodes(o) {
		return nil
	}
	_, err := DecodeWith(s.Encode(), o)
	return err
}

// decodes reports whether the stream is known to read back, without reading it. Each element was
// read from the bytes that it still has, on its own or in its place in a file; otherwise its
// reading depends only on the limits. Between elements are only commas and white space. An element
// that is not known to be within the limits may still be.
func (s *Stream) decodes(o DecodeOptions) bool {
	largest := s.known.largest
	for _, it := range s.items[s.known.n:] {
		largest = max(largest, it.el.largest)
	}
	size := s.size()
	return o.check(largest) == nil && size <= maxStreamBytes && (size < roomy || !s.crowded())
}

// crowded reports whether the stream has more elements or more containers than a reader accepts. A
// stream can grow beyond that by elements that are each within the limits.
func (s *Stream) crowded() bool {
	n := s.known.containers + 1 // the array of the elements
	for _, it := range s.items[s.known.counted:] {
		if n += it.el.containers(); n > maxContainers {
			return true
		}
	}
	return n > maxContainers || len(s.items) > maxContainers
}
