package refs

import (
	"encoding/binary"

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

// Settle stores s under a key and replaces the previous value.
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

// digits reads an id that was written as digits.
func (r *reader) digits() gitint.OID {
	text := r.string()
	id, err := gitint.ParseOID(text)
	if err != nil && text != "" {
		r.fail()
	}
	return id
}
