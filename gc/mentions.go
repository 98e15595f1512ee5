package gc

import (
	"context"
	"errors"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
)

// errUnknown is what the cache is told when it asks for what it does not know.
var errUnknown = errors.New("not known")

// A document is a file that can refer to content: a stream, or anything else beside one.
type document struct {
	id     refs.ObjectID
	stream bool
}

// mentions is what a document refers to, by number.
type mentions struct {
	sure  []int32
	loose []int32 // has the form of a reference, and may be one
	err   *events.SyntaxError
	dark  bool // nothing is known of it
}

// A library knows what documents refer to.
type library struct {
	forest *forest
	hashes *hashes
	// closed leaves out what the numbers do not know: of a long history few contents are
	// of interest.
	closed bool
	known  map[document]mentions
}

func newLibrary(f *forest, h *hashes, closed bool) *library {
	return &library{forest: f, hashes: h, closed: closed, known: make(map[document]mentions)}
}

func (l *library) cached(d document) bool {
	if d.stream {
		return l.forest.cache.KnowsMentions(d.id)
	}
	return l.forest.cache.KnowsTexts(d.id)
}

// ask answers from the cache, or from data.
func (l *library) ask(d document, data []byte) (refs.Mentions, error) {
	read := func() ([]byte, error) {
		if data == nil {
			return nil, errUnknown
		}
		return data, nil
	}
	if d.stream {
		return l.forest.cache.Mentions(d.id, read)
	}
	all, err := l.forest.cache.Texts(d.id, read)
	return refs.Mentions{Loose: all}, err
}

// load makes the mentions of documents known. Those that nobody remembers are read at once,
// and looked through several at a time.
func (l *library) load(ctx context.Context, o *Options, all []document) error {
	var unread, read []document
	var found []refs.Mentions
	n := 0
	asked := make(map[document]bool)
	for _, d := range all {
		if _, ok := l.known[d]; ok || asked[d] {
			continue
		}
		asked[d] = true
		if l.cached(d) {
			if m, err := l.ask(d, nil); err == nil {
				read, found = append(read, d), append(found, m)
				n += len(m.Refs) + len(m.Loose)
				l.forest.uses(d.id)
				continue
			}
		}
		unread = append(unread, d)
	}
	if !l.closed {
		l.hashes.reserve(n)
	}
	for i, d := range read {
		l.known[d] = l.number(found[i])
	}
	return l.read(ctx, o, unread)
}

func (l *library) read(ctx context.Context, o *Options, unread []document) error {
	ids := make([]gitint.OID, len(unread))
	for i, d := range unread {
		ids[i] = oid(d.id)
	}
	type page struct {
		document
		data []byte
	}
	pages := make(chan page, readers)
	var group sync.WaitGroup
	var mu sync.Mutex // of known and hashes
	for range readers {
		group.Go(func() {
			for p := range pages {
				m, err := l.ask(p.document, p.data)
				if err != nil {
					m.Opaque = true // cannot be: the data is there
				}
				mu.Lock()
				l.known[p.document] = l.number(m)
				mu.Unlock()
			}
		})
	}
	done := 0
	err := l.forest.repo.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		if err != nil {
			return err
		}
		if data == nil {
			data = []byte{}
		}
		pages <- page{unread[i], data}
		done++
		o.progress("streams", done, len(ids))
		return nil
	})
	close(pages)
	group.Wait()
	return err
}

const readers = 2

func (l *library) number(m refs.Mentions) mentions {
	out := mentions{err: m.Err, dark: m.Opaque}
	for _, h := range m.Refs {
		if n, ok := l.lookup(h); ok {
			out.sure = append(out.sure, n)
		}
	}
	for _, h := range m.Loose {
		if n, ok := l.lookup(h); ok {
			out.loose = append(out.loose, n)
		}
	}
	return out
}

func (l *library) lookup(h blobs.Hash) (int32, bool) {
	if l.closed {
		return l.hashes.find(h)
	}
	return l.hashes.add(h), true
}
