package sqlite

import (
	"encoding/binary"
)

// Kinds of pages of b-trees.
const (
	indexInner = 0x02
	tableInner = 0x05
	indexLeaf  = 0x0a
	tableLeaf  = 0x0d
)

const (
	// maxDepth is more than the depth of a tree of 2^32 pages.
	maxDepth = 40
	// maxPayload is the longest row that SQLite writes.
	maxPayload = 1 << 30
)

// A node is a page of a b-tree.
type node struct {
	data  []byte
	kind  byte
	cells []byte // 2 bytes for each
	right uint32 // of an inner node: the last child
}

func (s *snapshot) node(number uint32) (*node, error) {
	n := &node{data: make([]byte, s.page)}
	if err := s.readPage(number, n.data); err != nil {
		return nil, err
	}
	head := n.data
	start := 0
	if number == 1 {
		start = headerSize
	}
	head = head[start:s.usable]
	n.kind = head[0]
	size := 8
	switch n.kind {
	case indexInner, tableInner:
		size = 12
		n.right = binary.BigEndian.Uint32(head[8:])
	case indexLeaf, tableLeaf:
	default:
		return nil, damaged("page %d is of no tree", number)
	}
	count := int(binary.BigEndian.Uint16(head[3:]))
	if size+2*count > len(head) {
		return nil, damaged("page %d has %d cells", number, count)
	}
	n.cells = head[size : size+2*count]
	n.data = n.data[:s.usable]
	return n, nil
}

func (n *node) len() int { return len(n.cells) / 2 }

// cell returns the bytes from the beginning of a cell on.
func (n *node) cell(i int) ([]byte, error) {
	at := int(binary.BigEndian.Uint16(n.cells[2*i:]))
	if at >= len(n.data) {
		return nil, damaged("a cell is outside of its page")
	}
	return n.data[at:], nil
}

// varint reads a number of 1 to 9 bytes.
func varint(b []byte) (v uint64, rest []byte, err error) {
	for i, c := range b {
		if i == 8 {
			return v<<8 | uint64(c), b[9:], nil
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, b[i+1:], nil
		}
	}
	return 0, nil, damaged("a number is cut off")
}

// child returns the page that an inner cell points at, and the rest of the cell.
func child(cell []byte) (uint32, []byte, error) {
	if len(cell) < 4 {
		return 0, nil, damaged("a cell is cut off")
	}
	return binary.BigEndian.Uint32(cell), cell[4:], nil
}

// payload reads the content of a cell, whose rest may be on overflow pages. cell begins at the
// payload; local is how much of it a page has at most. left is how many such pages there can still
// be in everything that is read: in a damaged database many rows can name the same pages.
func (s *snapshot) payload(size uint64, cell []byte, local int, left *uint32) ([]byte, error) {
	if size > maxPayload || size > uint64(s.pages)*uint64(s.page) {
		return nil, damaged("a row has %d bytes", size)
	}
	n := int(size)
	if n <= local {
		if n > len(cell) {
			return nil, damaged("a row is cut off")
		}
		return cell[:n], nil
	}
	least := (s.usable-12)*32/255 - 23
	here := least + (n-least)%(s.usable-4)
	if here > local {
		here = least
	}
	if here+4 > len(cell) {
		return nil, damaged("a row is cut off")
	}
	out := append(make([]byte, 0, n), cell[:here]...)
	next := binary.BigEndian.Uint32(cell[here:])
	page := make([]byte, s.page)
	for len(out) < n {
		if *left == 0 {
			return nil, damaged("rows share their pages")
		}
		*left--
		if err := s.readPage(next, page); err != nil {
			return nil, err
		}
		next = binary.BigEndian.Uint32(page)
		out = append(out, page[4:4+min(n-len(out), s.usable-4)]...)
	}
	return out, nil
}

func (s *snapshot) tablePayload(
	cell []byte, left *uint32,
) (rowid int64, payload []byte, err error) {
	size, cell, err := varint(cell)
	if err != nil {
		return 0, nil, err
	}
	id, cell, err := varint(cell)
	if err != nil {
		return 0, nil, err
	}
	payload, err = s.payload(size, cell, s.usable-35, left)
	return int64(id), payload, err
}

func (s *snapshot) indexPayload(cell []byte, left *uint32) ([]byte, error) {
	size, cell, err := varint(cell)
	if err != nil {
		return nil, err
	}
	return s.payload(size, cell, (s.usable-12)*64/255-23, left)
}

// rows calls tell for the rows of a table in the order of their ids, until that returns false.
func (s *snapshot) rows(root uint32, tell func(rowid int64, payload []byte) (bool, error)) error {
	w := walk{snapshot: s, left: s.pages}
	_, err := w.rows(root, 0, tell)
	return err
}

// A walk goes through a tree. In a damaged one a page can be its own child.
type walk struct {
	*snapshot
	left uint32 // pages that it may still have, with those of long rows
}

func (w *walk) enter(number uint32, depth int) (*node, error) {
	if w.left == 0 || depth > maxDepth {
		return nil, damaged("pages of a tree lead back to it")
	}
	w.left--
	return w.node(number)
}

func (w *walk) rows(
	number uint32, depth int, tell func(int64, []byte) (bool, error),
) (more bool, err error) {
	n, err := w.enter(number, depth)
	if err != nil {
		return false, err
	}
	for i := range n.len() {
		cell, err := n.cell(i)
		if err != nil {
			return false, err
		}
		switch n.kind {
		case tableLeaf:
			var id int64
			var payload []byte
			if id, payload, err = w.tablePayload(cell, &w.left); err == nil {
				more, err = tell(id, payload)
			}
		case tableInner:
			var next uint32
			if next, _, err = child(cell); err == nil {
				more, err = w.rows(next, depth+1, tell)
			}
		default:
			err = damaged("page %d is of no table", number)
		}
		if err != nil || !more {
			return false, err
		}
	}
	if n.kind == tableInner {
		return w.rows(n.right, depth+1, tell)
	}
	return true, nil
}

// row returns the row of a table with an id, nil when there is none. For left see payload.
func (s *snapshot) row(root uint32, rowid int64, left *uint32) ([]byte, error) {
	for range maxDepth {
		n, err := s.node(root)
		if err != nil {
			return nil, err
		}
		switch n.kind {
		case tableLeaf:
			return s.leafRow(n, rowid, left)
		case tableInner:
			if root, err = n.descend(rowid); err != nil {
				return nil, err
			}
		default:
			return nil, damaged("page %d is of no table", root)
		}
	}
	return nil, damaged("pages of a tree lead back to it")
}

// descend returns the child of an inner node that has a row below it.
func (n *node) descend(rowid int64) (uint32, error) {
	for i := range n.len() {
		cell, err := n.cell(i)
		if err != nil {
			return 0, err
		}
		next, cell, err := child(cell)
		if err != nil {
			return 0, err
		}
		last, _, err := varint(cell)
		if err != nil || rowid <= int64(last) {
			return next, err
		}
	}
	return n.right, nil
}

func (s *snapshot) leafRow(n *node, rowid int64, left *uint32) ([]byte, error) {
	for i := range n.len() {
		cell, err := n.cell(i)
		if err != nil {
			return nil, err
		}
		_, rest, err := varint(cell)
		if err != nil {
			return nil, err
		}
		id, _, err := varint(rest)
		if err != nil {
			return nil, err
		}
		if int64(id) == rowid {
			_, payload, err := s.tablePayload(cell, left)
			return payload, err
		}
	}
	return nil, nil
}

// lookup calls tell for the ids of the rows whose first indexed column is a text, in the order of
// the index.
func (s *snapshot) lookup(root uint32, text string, tell func(rowid int64) (bool, error)) error {
	w := walk{snapshot: s, left: s.pages}
	_, err := w.lookup(root, 0, text, tell)
	return err
}

func (w *walk) lookup(
	number uint32, depth int, text string, tell func(int64) (bool, error),
) (more bool, err error) {
	n, err := w.enter(number, depth)
	if err != nil {
		return false, err
	}
	if n.kind != indexInner && n.kind != indexLeaf {
		return false, damaged("page %d is of no index", number)
	}
	for i := range n.len() {
		cell, err := n.cell(i)
		if err != nil {
			return false, err
		}
		var next uint32
		if n.kind == indexInner {
			if next, cell, err = child(cell); err != nil {
				return false, err
			}
		}
		key, err := w.indexKey(cell, &w.left)
		if err != nil {
			return false, err
		}
		order := key.first.compare(text)
		if order >= 0 && n.kind == indexInner { // equal keys may be below too
			if more, err = w.lookup(next, depth+1, text, tell); err != nil || !more {
				return false, err
			}
		}
		if order > 0 {
			return false, nil // and so is everything that follows
		}
		if order == 0 {
			if more, err = tell(key.rowid); err != nil || !more {
				return false, err
			}
		}
	}
	if n.kind == indexInner {
		return w.lookup(n.right, depth+1, text, tell)
	}
	return true, nil
}

// A key is an entry of an index.
type key struct {
	first value
	rowid int64
}

func (s *snapshot) indexKey(cell []byte, left *uint32) (key, error) {
	payload, err := s.indexPayload(cell, left)
	if err != nil {
		return key{}, err
	}
	all, err := record(payload)
	if err != nil {
		return key{}, err
	}
	if len(all) < 2 || all[len(all)-1].kind != integer {
		return key{}, damaged("an entry of an index names no row")
	}
	return key{all[0], all[len(all)-1].number}, nil
}
