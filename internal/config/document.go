package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A document is a TOML file with the position of each of its values.
type document struct {
	data  []byte
	tree  map[string]any
	items []item
	heads []header
	said  map[string]int // offset of each path: see position
	lines []int
}

// An item is one key = value. Offsets count bytes.
type item struct {
	path   []string // from the root of the document
	table  []string // header above it
	start  int      // of the key
	value  span
	inline bool // within { }
	array  bool // below a [[header]]
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

// A placedError is a fault of a document, with its position.
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
		if de, ok := errors.AsType[*toml.DecodeError](err); ok {
			te.pos.line, te.pos.column = de.Position()
			te.err = errors.New(strings.TrimPrefix(de.Error(), "toml: "))
		}
		if line := markerLine(data); line > 0 {
			te.pos, te.err = position{line, 1}, ErrUnmerged
		}
		return nil, te
	}
	// The depth was checked before. A list of tables has two levels here.
	if err := bounded(d.tree, 2*maxDepth); err != nil {
		return nil, &placedError{err: err}
	}
	return d, d.index()
}

// index records the position of every value. The document is valid.
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

// add records kv, and the members of its value if that is an inline table. above has the
// surroundings.
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

// valueOf returns the range of a value, which the parser does not return for arrays and tables.
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

// position returns the first position of path: its key, or a header.
func (d *document) position(path []string) position {
	if d.said == nil {
		d.locateAll()
	}
	offset, ok := d.said[JoinKey(path)]
	if !ok {
		return position{}
	}
	if d.lines == nil {
		d.lines = lineStarts(d.data)
	}
	line, _ := slices.BinarySearch(d.lines, offset+1) // the last line that begins up to it
	return position{line: line, column: offset - d.lines[line-1] + 1}
}

// locateAll records the first position of each path and of each prefix of it, since all of them are
// needed.
func (d *document) locateAll() {
	type place struct {
		path   []string
		offset int
	}
	places := lists.Map(d.items, func(it item) place { return place{it.path, it.start} })
	for _, h := range d.heads {
		places = append(places, place{h.path, h.start})
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.offset - b.offset })
	d.said = make(map[string]int, len(places))
	for _, p := range places {
		for n := len(p.path); n > 0; n-- {
			name := JoinKey(p.path[:n])
			if _, ok := d.said[name]; ok {
				break // its prefixes are recorded too
			}
			d.said[name] = p.offset
		}
	}
}

// lineStarts returns the offsets of the beginnings of lines.
func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func positionAt(data []byte, offset int) position {
	before := data[:offset]
	return position{
		line:   bytes.Count(before, []byte{'\n'}) + 1,
		column: offset - (bytes.LastIndexByte(before, '\n') + 1) + 1,
	}
}
