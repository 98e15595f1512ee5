package gc

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
)

// A document is a file that can refer to content: a stream, or another file of a conversation.
type document struct {
	id     gitint.OID
	stream bool
}

// mentions has the references of a document, by number.
type mentions struct {
	sure  []int32
	loose []int32 // has the form of a reference, and may be one
	err   *events.SyntaxError
	dark  bool // its references are unknown
}

// A referenceCache knows the references of documents.
type referenceCache struct {
	trees  *treeCache
	hashes *hashes
	// closed ignores hashes without a number: in a long history few contents are of interest.
	closed bool
	known  map[document]mentions
}

func newReferenceCache(f *treeCache, h *hashes, closed bool) *referenceCache {
	return &referenceCache{trees: f, hashes: h, closed: closed, known: make(map[document]mentions)}
}

// recall returns what the cache knows about a document.
func (l *referenceCache) recall(d document) (refs.Mentions, bool) {
	if d.stream {
		return l.trees.cache.Mentions().Of(d.id)
	}
	all, ok := l.trees.cache.Texts().Of(d.id)
	return refs.Mentions{Loose: all}, ok
}

// learn finds the references in the bytes of a document.
func (l *referenceCache) learn(d document, data []byte) refs.Mentions {
	if d.stream {
		m := refs.MentionsIn(data)
		l.trees.cache.Mentions().Set(d.id, m)
		return m
	}
	all := refs.HashesIn(data)
	l.trees.cache.Texts().Set(d.id, all)
	return refs.Mentions{Loose: all}
}

// load finds the references of documents. Documents that are not cached are read together, and
// parsed concurrently.
func (l *referenceCache) load(ctx context.Context, o *Options, all []document) error {
	var unread, read []document
	var found []refs.Mentions
	n := 0
	asked := make(map[document]bool)
	for _, d := range all {
		if _, ok := l.known[d]; ok || asked[d] || d.id.IsZero() {
			continue
		}
		asked[d] = true
		m, ok := l.recall(d)
		if !ok {
			unread = append(unread, d)
			continue
		}
		read, found = append(read, d), append(found, m)
		n += len(m.Refs) + len(m.Loose)
		l.trees.uses(d.id)
	}
	if !l.closed {
		l.hashes.reserve(n)
	}
	for i, d := range read {
		l.known[d] = l.number(found[i])
	}
	return l.read(ctx, o, unread)
}

func (l *referenceCache) read(ctx context.Context, o *Options, unread []document) error {
	ids := lists.Map(unread, func(d document) gitint.OID { return d.id })
	var mu sync.Mutex // guards the following variables, known and hashes
	done := 0
	var large []largeDocument
	err := l.trees.repo.AtOnce().ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		d := unread[i]
		if over, ok := errors.AsType[*regular.SizeError](err); ok {
			mu.Lock()
			defer mu.Unlock()
			large = append(large, largeDocument{d, over})
			return nil
		}
		if err != nil {
			return err
		}
		m := l.learn(d, data)
		mu.Lock()
		defer mu.Unlock()
		l.known[d] = l.number(m)
		done++
		o.progress("streams", done, len(ids))
		return nil
	})
	for _, d := range large {
		if err == nil {
			err = l.search(ctx, d)
		}
	}
	return err
}

// A largeDocument is a document that is too large to be read.
type largeDocument struct {
	document
	over *regular.SizeError
}

// encryptedMark begins a file encrypted by git-crypt.
const encryptedMark = "\x00GITCRYPT\x00"

// search finds everything in the form of a hash in a document that is too large to be read. For a
// stream nothing more is known, as if it were damaged.
func (l *referenceCache) search(ctx context.Context, d largeDocument) error {
	in := func(keep func(blobs.Hash) bool) (all []blobs.Hash, err error) {
		err = l.trees.repo.StreamBlob(ctx, d.id, func(r io.Reader) error {
			all, err = refs.HashesFrom(r, keep)
			return err
		})
		return all, err
	}
	all, err := l.trees.cache.Texts().Or(d.id, func() ([]blobs.Hash, error) { return in(nil) })
	if errors.Is(err, refs.ErrTooMany) && l.closed {
		all, err = in(func(h blobs.Hash) bool { _, ok := l.hashes.find(h); return ok })
	}
	if err != nil {
		return err
	}
	m := refs.Mentions{Loose: all}
	if d.stream {
		begins, err := l.trees.repo.BlobHead(ctx, d.id, int64(len(encryptedMark)))
		if err != nil {
			return err
		}
		m.Err = &events.SyntaxError{Element: -1, Err: d.over}
		m.Opaque = string(begins) == encryptedMark
	}
	l.known[d.document] = l.number(m)
	return nil
}

func (l *referenceCache) number(m refs.Mentions) mentions {
	return mentions{l.numbers(m.Refs), l.numbers(m.Loose), m.Err, m.Opaque}
}

func (l *referenceCache) numbers(all []blobs.Hash) (numbers []int32) {
	if !l.closed && len(all) > 0 {
		numbers = make([]int32, 0, len(all))
	}
	for _, h := range all {
		if n, ok := l.lookup(h); ok {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

func (l *referenceCache) lookup(h blobs.Hash) (int32, bool) {
	if l.closed {
		return l.hashes.find(h)
	}
	return l.hashes.add(h), true
}
