package refs

// Sound is how much was looked at in what has nothing wrong with it.
type Sound struct {
	Conversations, References, Blobs int
}

// Sound returns what SetSound was given for a verdict. The name of one has to say all that the
// verdict depends on, by its object id where it has one; that the objects are here it cannot say.
func (c *Cache) Sound(verdict string) (s Sound, ok bool) {
	return recall(c, soundness(verdict))
}

// SetSound remembers that nothing is wrong with what the name of the verdict says.
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
