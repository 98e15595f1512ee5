package refs

import (
	"github.com/git-jp/git-jp/gitint"
)

// Settled records that nothing was left to do for the conversations of one tree, whose blobs are in
// the other. It is stored under a key that identifies the work. It stays true, because the ids
// identify the trees.
type Settled struct {
	Conversations, Blobs gitint.OID
	// Except lists the conversations to which it does not apply.
	Except []string
}

// Settled returns the last value stored under a key.
func (c *Cache) Settled(where string) (s Settled, ok bool) {
	return c.settled().Of(Sum([]byte(where)))
}

// Settle stores s under a key and replaces the previous value.
func (c *Cache) Settle(where string, s Settled) { c.settled().Set(Sum([]byte(where)), s) }

func (c *Cache) settled() Property[Settled] {
	return Property[Settled]{
		c, kindSettled,
		func(s Settled, w *writer) {
			w.string(digits(s.Conversations))
			w.string(digits(s.Blobs))
			writeAll(w, s.Except, w.string)
		},
		func(r *reader) Settled {
			return Settled{r.digits(), r.digits(), readAll(r, 1, r.string)}
		},
	}
}

// digits reads an id that was written as digits.
func (r *reader) digits() gitint.OID {
	text := r.string()
	id, err := gitint.ParseOID(text)
	if err != nil && text != "" {
		r.fail()
	}
	return id
}
