package refs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
)

// Mentions holds the content to which a stream may refer, without duplicates, for garbage
// collection.
type Mentions struct {
	// Refs holds the references, as found by [Cache.References], except loose ones.
	Refs []blobs.Hash
	// Loose holds references that a newer version may have written. If Err is set it holds
	// everything in the text that looks like a hash.
	Loose []blobs.Hash
	// Err is the syntax error if the bytes are not a stream.
	Err *events.SyntaxError
	// Opaque reports whether the bytes are not even a damaged stream but a Git LFS pointer or
	// encrypted data, so that their references are unknown.
	Opaque bool
}

// Mentions returns the content to which the stream with the given id may refer.
func (c *Cache) Mentions(id gitint.OID, read func() ([]byte, error)) (Mentions, error) {
	return remember(c, question[Mentions]{
		kindMentions, id, after(read, MentionsIn), Mentions.encode, decodeMentions,
	})
}

// KnowsMentions reports whether Mentions has an answer.
func (c *Cache) KnowsMentions(id gitint.OID) bool { return c.has(kindMentions, id) }

// MentionsIn is [Cache.Mentions] for bytes that have no id.
func MentionsIn(data []byte) Mentions {
	found, usual := events.Skim(data)
	res := Result{Refs: found}
	if !usual {
		res = referencesIn(data, true)
	}
	m := Mentions{Err: res.Err}
	if res.Err != nil {
		m.Opaque = isOpaque(data)
		m.Loose = HashesIn(data)
		return m
	}
	for _, r := range res.Refs {
		if r.Loose {
			m.Loose = append(m.Loose, r.Ref.Hash)
		} else {
			m.Refs = append(m.Refs, r.Ref.Hash)
		}
	}
	m.Refs, m.Loose = distinct(m.Refs), distinct(m.Loose)
	return m
}

// isOpaque reports whether bytes that are not a stream cannot be a damaged one: a damaged stream is
// text that begins with '[' or with a conflict marker.
func isOpaque(data []byte) bool {
	text := bytes.TrimSpace(data)
	begins := len(text) == 0 || text[0] == '[' || bytes.HasPrefix(text, []byte("<<<<<<<"))
	return !begins || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data)
}

func distinct(all []blobs.Hash) []blobs.Hash {
	slices.SortFunc(all, blobs.Hash.Compare)
	return slices.Compact(all)
}

// Texts returns everything that looks like a hash in the file with the given id, whatever file it
// is.
func (c *Cache) Texts(id gitint.OID, read func() ([]byte, error)) ([]blobs.Hash, error) {
	return c.TextsFrom(id, after(read, HashesIn))
}

// TextsFrom is [Cache.Texts] for a file that is too large to read at once.
func (c *Cache) TextsFrom(id gitint.OID, find func() ([]blobs.Hash, error)) ([]blobs.Hash, error) {
	return remember(c, question[[]blobs.Hash]{
		kindText, id, find,
		func(all []blobs.Hash, w *writer) { w.hashes(all) }, (*reader).hashes,
	})
}

// KnowsTexts reports whether Texts has an answer.
func (c *Cache) KnowsTexts(id gitint.OID) bool { return c.has(kindText, id) }

// HashesIn returns everything in a text that looks like a hash, without duplicates: sixty-four
// lower-case hexadecimal digits that are not part of a longer run.
func HashesIn(data []byte) []blobs.Hash {
	var all []blobs.Hash
	var s hashScanner
	found := func(h blobs.Hash) { all = append(all, h) }
	s.scan(data, found)
	s.end(found)
	return distinct(all)
}

// ErrTooMany reports a text with more hashes than a store has blobs.
var ErrTooMany = errors.New("it has too many hashes")

// maxHashes bounds the hashes of a file that is not read at once, to 32 MiB.
const maxHashes = 1 << 20

// HashesFrom is [HashesIn] for a reader, so that the size of the text does not matter. It returns
// the hashes for which keep is true, or all if keep is nil. The error is that of r, or
// [ErrTooMany].
func HashesFrom(r io.Reader, keep func(blobs.Hash) bool) ([]blobs.Hash, error) {
	const portion = 64 << 10
	all := make(map[blobs.Hash]struct{})
	found := func(h blobs.Hash) {
		if len(all) <= maxHashes && (keep == nil || keep(h)) {
			all[h] = struct{}{}
		}
	}
	var s hashScanner
	for buf := make([]byte, portion); ; {
		n, err := r.Read(buf)
		s.scan(buf[:n], found)
		switch {
		case len(all) > maxHashes:
			return nil, ErrTooMany
		case errors.Is(err, io.EOF):
			s.end(found)
			return distinct(slices.Collect(maps.Keys(all))), nil
		case err != nil:
			return nil, err
		}
	}
}

const hashDigits = 2 * len(blobs.Hash{})

// A hashScanner holds the state between two portions of a text.
type hashScanner struct {
	digits [hashDigits]byte // of the run at the end of the last portion
	run    int
}

func (s *hashScanner) scan(data []byte, found func(blobs.Hash)) {
	for _, c := range data {
		if '0' <= c && c <= '9' || 'a' <= c && c <= 'f' {
			if s.run < hashDigits {
				s.digits[s.run] = c
			}
			s.run++
			continue
		}
		s.end(found)
	}
}

// end ends a run.
func (s *hashScanner) end(found func(blobs.Hash)) {
	if s.run == hashDigits {
		if h, err := blobs.ParseHash(string(s.digits[:])); err == nil {
			found(h)
		}
	}
	s.run = 0
}

func (m Mentions) encode(w *writer) {
	w.bool(m.Opaque)
	w.syntaxError(m.Err)
	w.hashes(m.Refs)
	w.hashes(m.Loose)
}

func decodeMentions(r *reader) Mentions {
	return Mentions{
		Opaque: r.bool(), Err: r.syntaxError(), Refs: r.hashes(), Loose: r.hashes(),
	}
}

func (w *writer) hashes(all []blobs.Hash) {
	w.buf = slices.Grow(w.buf, (len(all)+1)*len(blobs.Hash{}))
	w.buf = binary.AppendUvarint(w.buf, uint64(len(all)))
	for _, h := range all {
		w.buf = append(w.buf, h[:]...)
	}
}

func (r *reader) hashes() []blobs.Hash {
	n := r.count()
	if n == 0 {
		return nil
	}
	all := make([]blobs.Hash, 0, min(n, len(r.buf)/len(blobs.Hash{})+1))
	for range n {
		h := r.hash()
		if r.err != nil {
			return nil
		}
		all = append(all, h)
	}
	return all
}

// A TreeFile is a file in a tree of conversations that can refer to content.
type TreeFile struct {
	Path   string // below the tree
	Object gitint.OID
}

// Streams returns the files below a tree of conversations that can refer to content. list is called
// if they are not known.
func (c *Cache) Streams(
	tree gitint.OID, list func() ([]TreeFile, error),
) ([]TreeFile, error) {
	return remember(c, question[[]TreeFile]{
		kindStreams, tree, list,
		func(all []TreeFile, w *writer) {
			w.buf = binary.AppendUvarint(w.buf, uint64(len(all)))
			for _, f := range all {
				w.string(f.Path)
				w.id(f.Object)
			}
		},
		func(r *reader) (all []TreeFile) {
			for range r.count() {
				f := TreeFile{Path: r.string(), Object: r.id()}
				if r.err != nil {
					return nil
				}
				all = append(all, f)
			}
			return all
		},
	})
}

// A Place is a place of conversations in a tree: the path of their directory, the trees of the
// conversations and of their blobs, and the object of the file .id; missing ones are zero.
type Place struct {
	Dir                  string
	Conversations, Blobs gitint.OID
	ID                   gitint.OID
	Kind                 PlaceKind
	Through              []gitint.OID // the trees on the way
}

// A PlaceKind classifies a place that has, or may have, conversations.
type PlaceKind uint8

// The kinds of places.
const (
	Workspace PlaceKind = iota // a directory .jp, whose path is Dir
	Copy                       // conversations elsewhere; Dir is the path of Conversations
	Stray                      // likewise, but possibly only a file with the name of a stream
)

// Places returns the places in the tree of a commit. find is called if they are not known.
func (c *Cache) Places(commit gitint.OID, find func() ([]Place, error)) ([]Place, error) {
	return remember(c, question[[]Place]{
		kindPlaces, commit, find,
		func(all []Place, w *writer) {
			w.buf = binary.AppendUvarint(w.buf, uint64(len(all)))
			for _, p := range all {
				w.string(p.Dir)
				w.id(p.Conversations)
				w.id(p.Blobs)
				w.id(p.ID)
				w.buf = append(w.buf, byte(p.Kind))
				w.ids(p.Through)
			}
		},
		func(r *reader) (all []Place) {
			for range r.count() {
				p := Place{
					Dir: r.string(), Conversations: r.id(), Blobs: r.id(), ID: r.id(),
					Kind: r.placeKind(), Through: r.ids(),
				}
				if r.err != nil {
					return nil
				}
				all = append(all, p)
			}
			return all
		},
	})
}

func (r *reader) placeKind() PlaceKind {
	if len(r.buf) == 0 || PlaceKind(r.buf[0]) > Stray {
		r.fail()
		return 0
	}
	k := PlaceKind(r.buf[0])
	r.buf = r.buf[1:]
	return k
}

func (w *writer) ids(all []gitint.OID) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(all)))
	for _, id := range all {
		w.id(id)
	}
}

func (r *reader) ids() []gitint.OID {
	n := r.count()
	if n == 0 {
		return nil
	}
	all := make([]gitint.OID, 0, min(n, len(r.buf)/shortestID+1))
	for range n {
		all = append(all, r.id())
		if r.err != nil {
			return nil
		}
	}
	return all
}

// id writes the length of an object id and its bytes; the zero id has none.
func (w *writer) id(id gitint.OID) {
	at := len(w.buf)
	w.buf = id.AppendBytes(append(w.buf, 0))
	w.buf[at] = byte(len(w.buf) - at - 1) //nolint:gosec // at most 32
}

// shortestID is the minimal length of an object id in bytes.
const shortestID = 20

func (r *reader) id() gitint.OID {
	if len(r.buf) == 0 || len(r.buf) < 1+int(r.buf[0]) {
		r.fail()
		return gitint.OID{}
	}
	size := 1 + int(r.buf[0])
	id, ok := gitint.OIDOf(r.buf[1:size])
	if !ok && size > 1 {
		r.fail()
		return gitint.OID{}
	}
	r.buf = r.buf[size:]
	return id
}
