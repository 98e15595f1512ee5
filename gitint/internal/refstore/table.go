package refstore

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// errTable reports a reftable that is not as git writes it.
var errTable = errors.New("damaged reftable")

// A refTable is one file of a reftable stack. It is read here because git lists the readable part
// of a damaged one and succeeds.
type refTable struct {
	min, max uint64 // of the transactions in it
	refs     []tableRef
	logs     []tableLog
}

// A tableRef is a ref record. It is a deletion if it has neither id nor target.
type tableRef struct {
	name, target string
	id, peeled   object.ID
}

// A tableLog is a reflog record.
type tableLog struct {
	name    string
	at      uint64 // the transaction
	deleted bool
	entry   LogEntry
}

// The sizes of the parts around the blocks of a table, for the two versions of the format.
const (
	tableMagic     = "REFT"
	tableHeader    = 24
	tableHeader2   = 28 // includes the hash format
	tableFooter    = 44 // after a copy of the header
	tableSections  = 5  // numbers in the footer
	blockHeader    = 4
	restartSize    = 3
	updateIndexLen = 8
)

// parseTable parses a complete table: every block, record and checksum.
func parseTable(data []byte, idSize int) (*refTable, error) {
	p := tableReader{data: data, idSize: idSize, header: tableHeader}
	if len(data) > tableHeader && data[len(tableMagic)] == 2 {
		p.header = tableHeader2
	}
	p.end = len(data) - p.header - tableFooter
	if p.end < p.header || string(data[:len(tableMagic)]) != tableMagic {
		return nil, fmt.Errorf("%w: it has %d bytes", errTable, len(data))
	}
	footer := data[p.end:]
	sum := binary.BigEndian.Uint32(footer[len(footer)-crc32.Size:])
	if !bytes.Equal(footer[:p.header], data[:p.header]) ||
		crc32.ChecksumIEEE(footer[:len(footer)-crc32.Size]) != sum {
		return nil, fmt.Errorf("%w: its header or footer is invalid", errTable)
	}
	if version := data[len(tableMagic)]; version != 1 && version != 2 {
		return nil, fmt.Errorf("reftable of the unknown version %d", version)
	}
	p.table.min = binary.BigEndian.Uint64(data[8:])
	p.table.max = binary.BigEndian.Uint64(data[16:])
	p.blockSize = uint24(data[5:])
	for i := range p.sections {
		p.sections[i] = binary.BigEndian.Uint64(footer[p.header+8*i:])
	}
	p.sections[1] >>= 5 // the low bits are the length of the abbreviated object ids
	if err := p.blocks(); err != nil {
		return nil, fmt.Errorf("%w: %w", errTable, err)
	}
	return &p.table, nil
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// A tableReader reads one table.
type tableReader struct {
	data      []byte
	idSize    int
	header    int
	end       int // offset of the footer
	sections  [tableSections]uint64
	indexed   byte // kind of the blocks whose index was read
	blockSize int  // size to which blocks are padded, 0 if they are not
	table     refTable
	last      []byte // the previous key
}

// blocks reads the blocks in order. The first begins after the header, and its offsets include the
// header.
func (p *tableReader) blocks() error {
	for at := 0; max(at, p.header) < p.end; {
		head := max(at, p.header)
		if head+blockHeader > p.end {
			return fmt.Errorf("the block at %d is truncated", at)
		}
		kind, size := p.data[head], uint24(p.data[head+1:])
		next, err := at+size, p.expect(kind, at)
		switch {
		case err != nil:
		case kind == 'g':
			next, err = p.logBlock(at, head, size)
		case next > p.end || next < head+blockHeader:
			err = errShort
		case kind == 'r':
			err = p.records(p.data[at:next], head+blockHeader-at, p.ref)
		case kind == 'i':
			err = p.records(p.data[at:next], head+blockHeader-at, indexRecord)
		}
		if err != nil {
			return fmt.Errorf("the block at %d: %w", at, err)
		}
		// Padding is zero, and no block begins with zero.
		if kind != 'g' && next < p.end && p.data[next] == 0 {
			next = at + p.blockSize
		}
		if next <= at {
			return fmt.Errorf("the block at %d has no end", at)
		}
		at = next
	}
	return nil
}

// expect compares the kind of a block with the footer, which has the offsets of object and log
// blocks. A table of only logs begins with them. After the blocks of a kind is an index of them,
// perhaps with several levels.
func (p *tableReader) expect(kind byte, at int) error {
	section := byte('r')
	for i, of := range [tableSections]byte{1: 'o', 3: 'g'} {
		if begin := p.sections[i]; of != 0 && begin > 0 && uint64(at) >= begin {
			section = of
		}
	}
	switch {
	case kind == 'i':
		p.indexed = section
		return nil
	case kind == section && p.indexed != section,
		kind == 'g' && section == 'r' && p.sections[3] == 0:
		return nil
	}
	return fmt.Errorf("it has the type %q in the section %q", kind, section)
}

// logBlock reads a block of reflogs, which is compressed except for its head, and returns the
// offset after it. The size is the uncompressed one.
func (p *tableReader) logBlock(at, head, size int) (next int, err error) {
	compressed := bytes.NewReader(p.data[head+blockHeader : p.end])
	r, err := zlib.NewReader(compressed)
	if err != nil {
		return 0, err
	}
	begin := head + blockHeader - at
	if size < begin {
		return 0, fmt.Errorf("it has the size %d", size)
	}
	block := bytes.NewBuffer(make([]byte, begin, size+bytes.MinRead))
	n, err := io.Copy(block, io.LimitReader(r, int64(size)))
	if err != nil || int(n) != size-begin {
		return 0, fmt.Errorf("it inflates to %d bytes: %w", n, errors.Join(err, errShort))
	}
	next = p.end - compressed.Len()
	return next, p.records(block.Bytes(), begin, p.log)
}

var errShort = errors.New("it is cut")

// records calls f with each record of a block. The block ends with a list of the records with a
// complete key, which is verified.
func (p *tableReader) records(
	block []byte, at int, f func(kind byte, r *recordReader),
) error {
	if len(block) < at+2 {
		return errShort
	}
	count := int(binary.BigEndian.Uint16(block[len(block)-2:]))
	end := len(block) - 2 - restartSize*count
	if count == 0 || end < at {
		return errShort
	}
	restarts := block[end : len(block)-2]
	r := &recordReader{rest: block[at:end]}
	p.last = nil
	for len(r.rest) > 0 {
		begin := end - len(r.rest)
		isRestart := len(restarts) > 0 && uint24(restarts) == begin
		if isRestart {
			restarts = restarts[restartSize:]
		}
		prefix := r.varint()
		suffix := r.varint()
		key := r.bytes(suffix >> 3)
		if r.failed || prefix > uint64(len(p.last)) || isRestart && prefix > 0 {
			return fmt.Errorf("the record at %d has no key", begin)
		}
		whole := append(bytes.Clone(p.last[:prefix]), key...)
		if p.last != nil && bytes.Compare(whole, p.last) <= 0 {
			return fmt.Errorf("the key %q follows %q", whole, p.last)
		}
		p.last = whole
		if f(byte(suffix&7), r); r.failed {
			return fmt.Errorf("the record of %q is cut off", whole)
		}
	}
	if len(restarts) > 0 {
		return errors.New("the restart table does not match its records")
	}
	return nil
}

// indexRecord reads the offset that follows a key in an index. It accepts nothing else, so that no
// ref is skipped as an index.
func indexRecord(kind byte, r *recordReader) {
	r.varint()
	r.failed = r.failed || kind != 0
}

// ref reads what follows the name of a ref.
func (p *tableReader) ref(kind byte, r *recordReader) {
	ref := tableRef{name: string(p.last)}
	r.varint() // the transaction
	switch kind {
	case 0:
	case 1, 2:
		ref.id = r.id(p.idSize)
		if kind == 2 {
			ref.peeled = r.id(p.idSize)
		}
		r.failed = r.failed || ref.id.IsZero()
	case 3:
		ref.target = string(r.bytes(r.varint()))
		r.failed = r.failed || ref.target == ""
	default:
		r.failed = true
	}
	p.table.refs = append(p.table.refs, ref)
}

// log reads what follows the key of a reflog record: the name, and the inverted transaction number.
func (p *tableReader) log(kind byte, r *recordReader) {
	name, index, ok := bytes.Cut(p.last, []byte{0})
	if !ok || len(index) != updateIndexLen || kind > 1 {
		r.failed = true
		return
	}
	one := tableLog{
		name: string(name), at: ^binary.BigEndian.Uint64(index), deleted: kind == 0,
	}
	if !one.deleted {
		one.entry.Was, one.entry.Is = r.id(p.idSize), r.id(p.idSize)
		r.bytes(r.varint())              // name
		r.bytes(r.varint())              // and address
		one.entry.At = int64(r.varint()) // seconds
		r.bytes(2)                       // the time zone
		one.entry.Why = string(bytes.TrimRight(r.bytes(r.varint()), "\n"))
	}
	p.table.logs = append(p.table.logs, one)
}

// A recordReader reads numbers and bytes from the rest of a block.
type recordReader struct {
	rest   []byte
	failed bool
}

// varint reads a number in git's offset encoding: each continuation adds one.
func (r *recordReader) varint() (n uint64) {
	for i, b := range r.rest {
		if n |= uint64(b & 0x7f); b < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
		if n++; n >= 1<<(64-7) {
			break
		}
		n <<= 7
	}
	r.failed = true
	return 0
}

func (r *recordReader) bytes(n uint64) []byte {
	if r.failed || n > uint64(len(r.rest)) {
		r.failed = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *recordReader) id(size int) object.ID {
	return object.IDOf(r.bytes(uint64(size))) // 20 or 32
}
