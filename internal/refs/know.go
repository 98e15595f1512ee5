package refs

import "github.com/git-jp/git-jp/gitint"

// A File is a kind of file, which determines the questions about it.
type File int

// The files of a conversation.
const (
	StreamFile   File = iota // for References and Stream
	DetailsFile              // for Details
	DocumentFile             // for JSON
)

// Knows reports whether all answers about a file are remembered, so that it need not be read.
// Unlike other methods it does not verify the records.
func (c *Cache) Knows(f File, id gitint.OID) bool {
	switch f {
	case StreamFile:
		return c.has(kindVerdict, id) && c.has(kindReferences, id)
	case DetailsFile:
		return c.has(kindDetails, id)
	default:
		return c.has(kindJSON, id)
	}
}

// Learn computes and remembers all answers about a file from its bytes.
func (c *Cache) Learn(f File, id gitint.OID, data []byte) {
	read := func() ([]byte, error) { return data, nil }
	// Only read can fail.
	switch f {
	case StreamFile:
		_, _, _ = c.Stream(id, read)
	case DetailsFile:
		_, _ = c.Details(id, read)
	default:
		_, _ = c.JSON(id, read)
	}
}

// KnowsBlobs reports whether Blobs and Trees have an answer for a tree.
func (c *Cache) KnowsBlobs(tree gitint.OID) bool {
	return c.has(kindBlobs, tree) && c.has(kindTrees, tree)
}

// IsPlain reports whether SetPlain was called for a tree.
func (c *Cache) IsPlain(tree gitint.OID) bool { return c.isSet(kindPlain, tree) }

func (c *Cache) isSet(what kind, id gitint.OID) bool {
	k, ok := keyOf(what, id)
	if !ok {
		return false
	}
	_, ok = c.shards[k.shard()].lookup(k)
	return ok
}

func (c *Cache) set(what kind, id gitint.OID) {
	if k, ok := keyOf(what, id); ok {
		c.shards[k.shard()].add(k, nil)
	}
}

// IsComplete reports whether SetComplete was called for two trees.
func (c *Cache) IsComplete(conversations, blobs gitint.OID) bool {
	return c.isSet(kindComplete, pairOf(conversations, blobs))
}

// SetComplete remembers that everything to which one tree refers has an entry in the other.
func (c *Cache) SetComplete(conversations, blobs gitint.OID) {
	c.set(kindComplete, pairOf(conversations, blobs))
}

// pairOf returns an id for a pair of trees.
func pairOf(a, b gitint.OID) gitint.OID { return Sum([]byte(digits(a) + " " + digits(b))) }

// digits returns the digits of an id, or "" if it is zero.
func digits(id gitint.OID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// SetPlain remembers that no blob in the tree, or below it, is a Git LFS pointer.
func (c *Cache) SetPlain(tree gitint.OID) { c.set(kindPlain, tree) }

func (c *Cache) has(what kind, id gitint.OID) bool {
	k, ok := keyOf(what, id)
	return ok && c.shards[k.shard()].has(k)
}

// has reports whether there is a record.
func (s *shard) has(k key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.knows(k) || s.older != nil && s.older.knows(k)
}

func (s *shard) knows(k key) bool {
	s.load()
	if _, ok := s.added[k]; ok {
		return true
	}
	_, ok := s.index[k]
	return ok
}
