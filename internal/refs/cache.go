package refs

import (
	"errors"
	"path/filepath"
	"sync/atomic"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
)

// shards is the number of files: enough that looking up one conversation reads little, and few
// enough that a run that uses all of them opens few files.
const shards = 16

// A Cache returns remembered answers, or computes and remembers them. It is safe for concurrent
// use. The zero Cache remembers only in memory, as does one whose directory cannot be used.
type Cache struct {
	shards       [shards]shard
	hits, misses atomic.Int64
}

// Open returns the cache in dir, which is created together with the first records that are written.
// Open reads and writes nothing, so it cannot fail. An empty dir means memory only.
func Open(dir string) *Cache {
	c := &Cache{}
	for i := range c.shards {
		c.shards[i].init(dir, i)
	}
	return c
}

// Load reads the files, which otherwise happens on first use.
func (c *Cache) Load() {
	for i := range c.shards {
		c.shards[i].mu.Lock()
		c.shards[i].load()
		c.shards[i].mu.Unlock()
	}
}

// Close writes new records and closes the files. Losing them only costs time, so at most a trace
// needs the error. Whoever wrote some removes what other versions left behind.
func (c *Cache) Close() error {
	var errs []error
	written := ""
	for i := range c.shards {
		errs = append(errs, c.shards[i].close())
		if c.shards[i].written {
			written = c.shards[i].path
		}
	}
	if dir, name := filepath.Split(written); written != "" {
		RemoveOthers(dir, family, current, name)
	}
	return errors.Join(errs...)
}

// Stats counts the lookups of a Cache.
type Stats struct {
	Hits, Misses int64
}

// Stats returns the counts so far.
func (c *Cache) Stats() Stats { return Stats{c.hits.Load(), c.misses.Load()} }

// A Result holds the references of a stream.
type Result struct {
	Refs []events.RefAt
	Err  *events.SyntaxError // set if the bytes are not a stream; Refs is then empty
}

// References returns the references of the stream with the given id. read is called if they are not
// known; its error is returned and not remembered. Because it is used for deletion, it finds the
// references in every member with a duplicate name, and those to content of any size.
func (c *Cache) References(id gitint.OID, read func() ([]byte, error)) (Result, error) {
	return c.references().Or(id, after(read, references))
}

func (c *Cache) references() Property[Result] {
	return Property[Result]{c, kindReferences, Result.encode, decodeResult}
}

func references(data []byte) Result { return referencesIn(data, false) }

func referencesIn(data []byte, bare bool) Result {
	// No limit on size, because the limit may change and the answer must not.
	refs, err := events.ReferencesWith(data, events.ReferencesOptions{
		DecodeOptions: events.DecodeOptions{MaxBlobBytes: -1}, Duplicates: true, Bare: bare,
	})
	if err != nil {
		return Result{Err: syntaxError(err)}
	}
	return Result{Refs: refs}
}

func (res Result) encode(w *writer) {
	w.syntaxError(res.Err)
	w.refs(res.Refs)
}

func decodeResult(r *reader) Result { return Result{Err: r.syntaxError(), Refs: r.refs()} }

// A Property is what a cache remembers of one property of objects.
type Property[T any] struct {
	cache  *Cache
	kind   kind
	encode func(T, *writer)
	decode func(*reader) T
}

// after returns a function that computes f from the result of read.
func after[T any](read func() ([]byte, error), f func([]byte) T) func() (T, error) {
	return func() (T, error) {
		data, err := read()
		if err != nil {
			var none T
			return none, err
		}
		return f(data), nil
	}
}

// Or returns the property of an object, which it computes and remembers if it is not known.
func (p Property[T]) Or(id gitint.OID, compute func() (T, error)) (T, error) {
	if v, ok := p.Of(id); ok {
		p.cache.hits.Add(1)
		return v, nil
	}
	p.cache.misses.Add(1)
	v, err := compute()
	if err == nil {
		p.Set(id, v)
	}
	return v, err
}

// Of returns the property of an object, if it is known.
func (p Property[T]) Of(id gitint.OID) (v T, ok bool) {
	k, ok := keyOf(p.kind, id)
	if !ok {
		return v, false
	}
	payload, ok := p.cache.shards[k.shard()].lookup(k)
	if !ok {
		return v, false
	}
	r := newReader(payload)
	v = p.decode(r)
	return v, r.done() == nil
}

// Set remembers the property of an object.
func (p Property[T]) Set(id gitint.OID, v T) {
	if k, ok := keyOf(p.kind, id); ok {
		var w writer
		p.encode(v, &w)
		p.cache.shards[k.shard()].add(k, w.buf)
	}
}

// syntaxError returns err as the type that all decoders of events return.
func syntaxError(err error) *events.SyntaxError {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*events.SyntaxError](err); ok {
		return e
	}
	return &events.SyntaxError{Element: -1, Err: err}
}
