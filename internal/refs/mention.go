package refs

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

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
	// Err is the syntax error if the stream cannot be decoded: a newer version may refer to content
	// there in a form that nobody else can recognize.
	Err *events.SyntaxError
	// Opaque reports whether the bytes are not even a damaged stream but a Git LFS pointer or
	// encrypted data, so that their references are unknown.
	Opaque bool
}

// Mentions is the content to which streams may refer: MentionsIn of their bytes.
func (c *Cache) Mentions() Property[Mentions] {
	return Property[Mentions]{c, kindMentions, Mentions.encode, decodeMentions}
}

// MentionsIn returns the content to which a stream may refer.
func MentionsIn(data []byte) Mentions {
	found, usual := events.Skim(data)
	res := Result{Refs: found}
	if !usual {
		res = referencesIn(data, true)
		res.Err = cmp.Or(res.Err, undecoded(data))
	}
	m := Mentions{Err: res.Err}
	if res.Err != nil {
		m.Opaque = isOpaque(data)
		m.Loose = HashesIn(data)
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

// undecoded returns why a stream cannot be decoded, or nil. Like referencesIn it has no limit on
// size, and duplicate names are no reason: each of them counts.
func undecoded(data []byte) *events.SyntaxError {
	_, err := events.DecodeWith(data, events.DecodeOptions{MaxBlobBytes: -1})
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return nil
	}
	return syntaxError(err)
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

// Texts is everything that looks like a hash in files, whatever files they are: HashesIn of their
// bytes.
func (c *Cache) Texts() Property[[]blobs.Hash] {
	return Property[[]blobs.Hash]{
		c, kindText, func(all []blobs.Hash, w *writer) { w.hashes(all) }, (*reader).hashes,
	}
}

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
	writeAll(w, all, func(h blobs.Hash) { w.buf = append(w.buf, h[:]...) })
}

func (r *reader) hashes() []blobs.Hash { return readAll(r, len(blobs.Hash{}), r.hash) }

// A TreeFile is a file in a tree of conversations that can refer to content.
type TreeFile struct {
	Path   string // below the tree
	Object gitint.OID
}

// Streams are the files below trees of conversations that can refer to content.
func (c *Cache) Streams() Property[[]TreeFile] {
	return Property[[]TreeFile]{
		c, kindStreams,
		func(all []TreeFile, w *writer) {
			writeAll(w, all, func(f TreeFile) {
				w.string(f.Path)
				w.id(f.Object)
			})
		},
		func(r *reader) []TreeFile {
			return readAll(r, 2, func() TreeFile {
				return TreeFile{Path: r.string(), Object: r.id()}
			})
		},
	}
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
	Notes                      // likewise, of git notes, which may be streams
)

// Places are the places in the trees of commits.
func (c *Cache) Places() Property[[]Place] {
	return Property[[]Place]{
		c, kindPlaces,
		func(all []Place, w *writer) {
			writeAll(w, all, func(p Place) {
				w.string(p.Dir)
				w.id(p.Conversations)
				w.id(p.Blobs)
				w.id(p.ID)
				w.buf = append(w.buf, byte(p.Kind))
				w.ids(p.Through)
			})
		},
		func(r *reader) []Place {
			const shortest = 6 // a byte for each member
			return readAll(r, shortest, func() Place {
				return Place{
					Dir: r.string(), Conversations: r.id(), Blobs: r.id(), ID: r.id(),
					Kind: r.placeKind(), Through: r.ids(),
				}
			})
		},
	}
}

func (r *reader) placeKind() PlaceKind {
	if len(r.buf) == 0 || PlaceKind(r.buf[0]) > Notes {
		r.fail()
		return 0
	}
	k := PlaceKind(r.buf[0])
	r.buf = r.buf[1:]
	return k
}

func (w *writer) ids(all []gitint.OID) { writeAll(w, all, w.id) }

func (r *reader) ids() []gitint.OID { return readAll(r, shortestID, r.id) }

// id writes the length of an object id and its bytes; the zero id has none.
func (w *writer) id(id gitint.OID) {
	at := len(w.buf)
	w.buf = id.AppendBytes(append(w.buf, 0))
	w.buf[at] = byte(len(w.buf) - at - 1) // at most 32
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
