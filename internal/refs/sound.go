package refs

// Sound holds the counts of an examination of trees without faults.
type Sound struct {
	Conversations, References, Blobs int
}

// Sound returns the counts that were stored with SetSound for a verdict. The name of a verdict has
// to include everything that the verdict depends on, with object ids as far as possible; it cannot
// say that the objects exist.
func (c *Cache) Sound(verdict string) (s Sound, ok bool) {
	return c.soundness().Of(Sum([]byte(verdict)))
}

// SetSound remembers that no faults were found, under the name of the verdict.
func (c *Cache) SetSound(verdict string, s Sound) { c.soundness().Set(Sum([]byte(verdict)), s) }

func (c *Cache) soundness() Property[Sound] {
	return Property[Sound]{
		c, kindSound,
		func(s Sound, w *writer) {
			w.int(s.Conversations)
			w.int(s.References)
			w.int(s.Blobs)
		},
		func(r *reader) Sound { return Sound{r.int(), r.int(), r.int()} },
	}
}
