package refs

import (
	"encoding/binary"

	"github.com/git-jp/git-jp/gitint"
)

// Settled says of two trees that nothing was left to do for the conversations of the one, whose
// blobs the other has: what was looked for, where says. It is true for ever, as it names them.
type Settled struct {
	Conversations, Blobs gitint.OID
	// Except are the conversations of which it does not say that.
	Except []string
}

// Settled returns what was last found where.
func (c *Cache) Settled(where string) (s Settled, ok bool) {
	k, _ := keyOf(kindSettled, Sum([]byte(where)))
	payload, ok := c.shards[k.shard()].lookup(k)
	if !ok {
		return Settled{}, false
	}
	r := newReader(payload)
	s = Settled{Conversations: r.digits(), Blobs: r.digits()}
	for range r.count() {
		s.Except = append(s.Except, r.string())
	}
	return s, r.done() == nil
}

// Settle remembers what was found where, in the place of what was found there before.
func (c *Cache) Settle(where string, s Settled) {
	var w writer
	w.string(digits(s.Conversations))
	w.string(digits(s.Blobs))
	w.buf = binary.AppendUvarint(w.buf, uint64(len(s.Except)))
	for _, id := range s.Except {
		w.string(id)
	}
	k, _ := keyOf(kindSettled, Sum([]byte(where)))
	c.shards[k.shard()].add(k, w.buf)
}

// digits reads an id that was written as its digits.
func (r *reader) digits() gitint.OID {
	text := r.string()
	id, err := gitint.ParseOID(text)
	if err != nil && text != "" {
		r.fail()
	}
	return id
}
