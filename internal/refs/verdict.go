package refs

import (
	"bytes"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/jsonspan"
)

// An OpenCall is a tool call of the last turn that has no response.
type OpenCall struct {
	Element int
	Turn    int // 0-based
	ID      string
	Tool    string
	Offset  int64 // of the element, in bytes from the start of the file
}

// A DroppedAt is the place of a request without the resources that it had.
type DroppedAt struct {
	Element int
	Turn    int   // 0-based
	Offset  int64 // in bytes from the start of the file
}

// A Verdict is the result of decoding a stream completely.
type Verdict struct {
	Err  *events.SyntaxError // why the stream cannot be loaded, by this program or by jp
	Open []OpenCall          // nil if the last turn is complete
	// Dropped are the requests without the resources that they had, [events.Element.Dropped].
	Dropped []DroppedAt
}

// Stream returns the verdict on the stream with the given id, and its references as in
// [Cache.References]. If either is not known, the stream is decoded once for both. The verdict is
// stricter than References, but has no limit on size either.
func (c *Cache) Stream(id gitint.OID, read func() ([]byte, error)) (Verdict, Result, error) {
	whole, named := Property[Verdict]{c, kindVerdict, Verdict.encode, decodeVerdict}, c.references()
	v, judged := whole.Of(id)
	res, listed := named.Of(id)
	if judged && listed {
		c.hits.Add(1)
		return v, res, nil
	}
	c.misses.Add(1)
	data, err := read()
	if err != nil {
		return Verdict{}, Result{}, err
	}
	v, res = examine(data)
	if !judged {
		whole.Set(id, v)
	}
	if !listed {
		named.Set(id, res)
	}
	return v, res, nil
}

// examine decodes a stream once, unless it has the usual form. A stream that does not decode may
// still have references.
func examine(data []byte) (Verdict, Result) {
	if found, ok := events.Skim(data); ok {
		return Verdict{}, Result{Refs: found}
	}
	s, err := events.DecodeWith(data, events.DecodeOptions{MaxBlobBytes: -1})
	if err != nil {
		return Verdict{Err: syntaxError(err)}, references(data)
	}
	return verdict(data, s), Result{Refs: s.References()}
}

func verdict(data []byte, s *events.Stream) Verdict {
	if err := startable(data, s); err != nil {
		return Verdict{Err: err}
	}
	if err := loadable(data, s); err != nil {
		return Verdict{Err: err}
	}
	v := Verdict{Dropped: dropped(data, s)}
	in, ok := s.Incomplete()
	if !ok {
		return v
	}
	at := offsets(data, s) // computed at once: a turn may have as many calls as there are elements
	for _, call := range in.Calls {
		v.Open = append(v.Open, OpenCall{
			Element: call.Request, Turn: call.Turn, ID: call.ID, Tool: call.Name,
			Offset: at[call.Request],
		})
	}
	return v
}

func dropped(data []byte, s *events.Stream) (all []DroppedAt) {
	for i, e := range s.All() {
		if e.Dropped() {
			all = append(all, DroppedAt{Element: i})
		}
	}
	if all == nil {
		return nil
	}
	at, turns := offsets(data, s), s.Turns()
	for i, p := range all {
		all[i].Offset = at[p.Element]
		for all[i].Turn < len(turns)-1 && turns[all[i].Turn].Last < p.Element {
			all[i].Turn++
		}
	}
	return all
}

// startable checks members that jp requires when it starts, although loading accepts elements
// without them: jp moves a stream that lacks it to its trash.
func startable(data []byte, s *events.Stream) *events.SyntaxError {
	for i, e := range s.All() {
		if e.Kind() != "" && !e.Time().IsZero() {
			continue
		}
		for _, name := range []string{"timestamp", "type"} {
			if jsonspan.MemberOf(e.Raw(), name) != nil {
				continue
			}
			return &events.SyntaxError{
				Element: i, Kind: e.Kind(), Offset: offsetOf(data, s, i),
				Err: fmt.Errorf("no member %q", name),
			}
		}
	}
	return nil
}

// loadable checks jp's requirements for values that this program does not have.
func loadable(data []byte, s *events.Stream) *events.SyntaxError {
	for i, e := range s.All() {
		if err := e.Loadable(); err != nil {
			return &events.SyntaxError{
				Element: i, Kind: e.Kind(), Offset: offsetOf(data, s, i),
				Err: fmt.Errorf("jp cannot load it: %w", err),
			}
		}
	}
	return nil
}

// offsetOf returns the offset of element n.
func offsetOf(data []byte, s *events.Stream, n int) int64 { return offsets(data, s)[n] }

// offsets finds the elements in the file from which s was decoded: they are there in order, with
// the same bytes.
func offsets(data []byte, s *events.Stream) []int64 {
	all := make([]int64, s.Len())
	at := 0
	for i, e := range s.All() {
		next := bytes.Index(data[at:], e.Raw())
		if next < 0 {
			return all
		}
		at += next
		all[i] = int64(at)
		at += len(e.Raw())
	}
	return all
}

func (v Verdict) encode(w *writer) {
	w.syntaxError(v.Err)
	w.calls(v.Open)
	if v.Dropped != nil { // most records have no more than a shard keeps in memory
		w.dropped(v.Dropped)
	}
}

func decodeVerdict(r *reader) Verdict {
	v := Verdict{Err: r.syntaxError(), Open: r.calls()}
	if r.err == nil && len(r.buf) > 0 {
		v.Dropped = r.dropped()
	}
	return v
}

// Details reports why the metadata.json with the given id cannot be read, or nil if it can.
func (c *Cache) Details(id gitint.OID, read func() ([]byte, error)) (*events.SyntaxError, error) {
	return c.document(kindDetails, id, read, func(data []byte) *events.SyntaxError {
		_, err := events.DecodeDetails(data)
		return syntaxError(err)
	})
}

// JSON reports why the file with the given id, such as a base_config.json, is not a JSON object
// that questions and merges read, or nil if it is one.
func (c *Cache) JSON(id gitint.OID, read func() ([]byte, error)) (*events.SyntaxError, error) {
	return c.document(kindJSON, id, read, func(data []byte) *events.SyntaxError {
		return syntaxError(events.CheckObject(data))
	})
}

func (c *Cache) document(
	k kind, id gitint.OID, read func() ([]byte, error), f func([]byte) *events.SyntaxError,
) (*events.SyntaxError, error) {
	write := func(e *events.SyntaxError, w *writer) { w.syntaxError(e) }
	known := Property[*events.SyntaxError]{c, k, write, (*reader).syntaxError}
	return known.Or(id, after(read, f))
}
