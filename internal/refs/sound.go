package refs

// Sound holds the counts of an examination of trees without faults.
type Sound struct {
	Conversations, References, Blobs int
}

// Sound returns the counts that were stored with SetSound for a verdict. The name of a verdict has
// to include everything that the verdict depends on, with object ids as far as possible; it cannot
// say that the objects exist.
func (c *Cache) Sound(verdict string) (s Sound, ok bool) {
	return recall(c, soundness(verdict))
}

// SetSound remembers that no faults were found, under the name of the verdict.
func (c *Cache) SetSound(verdict string, s Sound) {
	note(c, soundness(verdict), s)
}

func soundness(verdict string) question[Sound] {
	return question[Sound]{
		kind: kindSound, id: Sum([]byte(verdict)),
		encode: func(s Sound, w *writer) {
			w.int(s.Conversations)
			w.int(s.References)
			w.int(s.Blobs)
		},
		decode: func(r *reader) Sound { return Sound{r.int(), r.int(), r.int()} },
	}
}
