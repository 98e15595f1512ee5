package events

// A piece is an element on its way into a derived stream.
type piece struct {
	el  *Element
	src int // index in the source, -1 if it is not from the source
}

// added returns the piece for an element that the source does not have.
func added(e *Element) piece { return piece{e, -1} }

// pieces returns the elements of s.
func (s *Stream) pieces() []piece {
	ps := make([]piece, s.Len())
	for i, e := range s.All() {
		ps[i] = piece{e, i}
	}
	return ps
}

// filter returns the pieces for whose index keep returns true.
func filter(ps []piece, keep func(i int) bool) []piece {
	out := make([]piece, 0, len(ps))
	for i, p := range ps {
		if keep(i) {
			out = append(out, p)
		}
	}
	return out
}

// rebuild returns a stream of ps with the layout of s. It takes one pass, where inserting and
// removing one by one would take quadratic time.
func (s *Stream) rebuild(ps []piece) *Stream {
	items := make([]item, len(ps))
	for i, p := range ps {
		if p.src >= 0 {
			items[i] = s.items[p.src]
		}
		items[i].el = p.el
	}
	return &Stream{array: newArray(items), open: s.open, close: s.close}
}
