package events

// known is what is known of the first n items of a stream: that none of them is broken, that none
// has content to store, and how much they have. Saving one event of a long stream must not cost a
// look at the thousands that were there before.
type known struct {
	n       int
	size    int   // of the items, encoded
	largest int64 // see [Element.largest]

	counted    int // of how many items the containers are known
	containers int // that those have
}

// learn looks at the items that nothing is known of, up to one with content to store.
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

// Validate reports what keeps the stream from being saved: an element that was
// built from something that the format does not have, or whose bytes do not read
// back. The error is a [*SyntaxError].
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

// decodes reports whether the stream is known to read back, without reading it. Each
// element was read from the bytes that it still has, on its own or in its place in a file;
// what its reading depends on besides is the limits. Between elements stand commas and
// white space. An element that is not known to be within the limits is no proof of the
// opposite.
func (s *Stream) decodes(o DecodeOptions) bool {
	largest := s.known.largest
	for _, it := range s.items[s.known.n:] {
		largest = max(largest, it.el.largest)
	}
	size := s.size()
	return o.check(largest) == nil && size <= MaxStreamBytes && (size < roomy || !s.crowded())
}

// crowded reports whether the stream has more elements than are read, or more in them. Adding
// elements that are within the limits one by one leads there.
func (s *Stream) crowded() bool {
	n := s.known.containers + 1 // the list of the elements
	for _, it := range s.items[s.known.counted:] {
		if n += it.el.containers(); n > maxContainers {
			return true
		}
	}
	return n > maxContainers || len(s.items) > maxContainers
}
