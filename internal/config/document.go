package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A document is a TOML file with the place of each of its values.
type document struct {
	data  []byte
	tree  map[string]any
	items []item
	heads []header
}

// An item is one key = value. Offsets count bytes.
type item struct {
	path   []string // from the root of the document
	table  []string // header above it
	start  int      // of the key
	value  span
	inline bool // stands inside { }
	array  bool // stands below a [[header]]
}

// A header is one [table] or [[table]].
type header struct {
	path  []string
	start int
	array bool
}

// A span is a half-open range of bytes.
type span struct{ start, end int }

// A position counts lines and columns from 1; 0 is unknown.
type position struct{ line, column int }

// A placedError is a fault of a document, and where it is.
type placedError struct {
	pos position
	err error
}

func (e *placedError) Error() string { return e.err.Error() }

func (e *placedError) Unwrap() error { return e.err }

func parseDocument(data []byte) (*document, error) {
	if err := shallow(data); err != nil {
		return nil, err
	}
	d := &document{data: data, tree: map[string]any{}}
	if err := toml.Unmarshal(data, &d.tree); err != nil {
		te := &placedError{err: err}
		var de *toml.DecodeError
		if errors.As(err, &de) {
			te.pos.line, te.pos.column = de.Position()
			te.err = errors.New(strings.TrimPrefix(de.Error(), "toml: "))
		}
		return nil, te
	}
	return d, d.index()
}

// index records where everything stands. The document is known to be sound.
func (d *document) index() error {
	var p unstable.Parser
	p.Reset(d.data)
	var above header
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			it := e.Key()
			it.Next()
			above = header{
				path:  keyOf(e),
				start: int(it.Node().Raw.Offset),
				array: e.Kind == unstable.ArrayTable || d.belowArray(keyOf(e)),
			}
			d.heads = append(d.heads, above)
		case unstable.KeyValue:
			d.add(e, item{path: above.path, table: above.path, array: above.array})
		}
	}
	if err := p.Error(); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

func (d *document) belowArray(path []string) bool {
	return slices.ContainsFunc(d.heads, func(h header) bool {
		return h.array && len(h.path) <= len(path) && slices.Equal(h.path, path[:len(h.path)])
	})
}

// add records kv, and what stands in it when it is an inline table. above gives
// what surrounds it.
func (d *document) add(kv *unstable.Node, above item) {
	it := above
	it.path = slices.Concat(above.path, keyOf(kv))
	it.start = int(kv.Raw.Offset)
	it.value = d.valueOf(kv)
	d.items = append(d.items, it)
	if kv.Value().Kind != unstable.InlineTable {
		return
	}
	it.inline = true
	for c := kv.Value().Children(); c.Next(); {
		if c.Node().Kind == unstable.KeyValue {
			d.add(c.Node(), it)
		}
	}
}

// valueOf finds the value's bytes: the parser gives none for arrays and tables.
func (d *document) valueOf(kv *unstable.Node) span {
	var after int
	for it := kv.Key(); it.Next(); {
		raw := it.Node().Raw
		after = int(raw.Offset + raw.Length)
	}
	end := int(kv.Raw.Offset + kv.Raw.Length)
	rest := d.data[after:end]
	eq := bytes.IndexByte(rest, '=') + 1
	blank := len(rest[eq:]) - len(bytes.TrimLeft(rest[eq:], " \t"))
	return span{after + eq + blank, end}
}

// find returns the item at path.
func (d *document) find(path []string) (item, bool) {
	i := slices.IndexFunc(d.items, func(it item) bool { return slices.Equal(it.path, path) })
	if i < 0 {
		return item{}, false
	}
	return d.items[i], true
}

// position returns where path is first said: its key, or a header.
func (d *document) position(path []string) position {
	if it, ok := d.find(path); ok {
		return positionAt(d.data, it.start)
	}
	leads := func(p []string) bool {
		return len(p) >= len(path) && slices.Equal(p[:len(path)], path)
	}
	offset := -1
	for _, it := range d.items {
		if leads(it.path) && (offset < 0 || it.start < offset) {
			offset = it.start
		}
	}
	for _, h := range d.heads {
		if leads(h.path) && (offset < 0 || h.start < offset) {
			offset = h.start
		}
	}
	if offset < 0 {
		return position{}
	}
	return positionAt(d.data, offset)
}

func positionAt(data []byte, offset int) position {
	before := data[:offset]
	return position{
		line:   bytes.Count(before, []byte{'\n'}) + 1,
		column: offset - (bytes.LastIndexByte(before, '\n') + 1) + 1,
	}
}
