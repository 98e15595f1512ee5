package sqlite

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
)

// Kinds of values, in the order of an index.
const (
	null = iota
	integer
	float
	text
	blob
)

type value struct {
	kind   int
	number int64 // of a float its bits
	data   []byte
}

// compare compares the value with a text, in the order of an index.
func (v value) compare(s string) int {
	switch {
	case v.kind < text:
		return -1
	case v.kind > text:
		return 1
	}
	return strings.Compare(string(v.data), s)
}

// maxColumns is what SQLite allows unless it is built otherwise. A value takes a byte in a row, and
// many in memory.
const maxColumns = 2000

// record reads the values of a row. They share the memory of payload.
func record(payload []byte) ([]value, error) {
	size, types, err := varint(payload)
	if err != nil {
		return nil, err
	}
	if size > uint64(len(payload)) || int(size) < len(payload)-len(types) {
		return nil, damaged("a row has a header of %d bytes", size)
	}
	body := payload[size:]
	types = types[:int(size)-(len(payload)-len(types))]
	all := make([]value, 0, 16)
	for len(types) > 0 {
		if len(all) == maxColumns {
			return nil, damaged("a row has more than %d columns", maxColumns)
		}
		var kind uint64
		if kind, types, err = varint(types); err != nil {
			return nil, err
		}
		var v value
		if v, body, err = take(kind, body); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// sizes are the sizes in bytes of values whose type is a number below 12.
var sizes = [...]int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}

// take reads a value of a type and returns the rest.
func take(kind uint64, body []byte) (v value, rest []byte, err error) {
	n := (kind - 12) / 2
	if kind < uint64(len(sizes)) {
		n = uint64(sizes[kind])
	}
	if n > uint64(len(body)) {
		return value{}, nil, damaged("a value is cut off")
	}
	data, rest := body[:n], body[n:]
	switch {
	case kind == 0:
	case kind <= 6:
		v = value{kind: integer, number: signed(data)}
	case kind == 7:
		v = value{kind: float, number: int64(binary.BigEndian.Uint64(data))}
	case kind <= 9:
		v = value{kind: integer, number: int64(kind - 8)}
	case kind <= 11:
		return value{}, nil, damaged("a value is of a type that is not used")
	case kind%2 == 0:
		v = value{kind: blob, data: data}
	default:
		v = value{kind: text, data: data}
	}
	return v, rest, nil
}

// signed reads a number of 1 to 8 bytes.
func signed(b []byte) int64 {
	v := int64(int8(b[0]))
	for _, c := range b[1:] {
		v = v<<8 | int64(c)
	}
	return v
}

// A Row is a row of a table, whose columns are read by name. A missing column is zero: other
// programs change their schemas.
type Row struct {
	columns map[string]int
	values  []value
	rowid   int64
	alias   int // the column that is the row's id, -1 for none
}

func (r Row) value(column string) value {
	i, ok := r.columns[column]
	switch {
	case !ok:
		return value{}
	case i == r.alias:
		return value{kind: integer, number: r.rowid}
	case i >= len(r.values): // written before that column existed
		return value{}
	}
	return r.values[i]
}

// Text returns the text or the bytes of a column.
func (r Row) Text(column string) string { return string(r.value(column).data) }

// Bytes returns the bytes or the text of a column. They are the caller's.
func (r Row) Bytes(column string) []byte { return r.value(column).data }

// Int returns the number of a column, truncated to an integer.
func (r Row) Int(column string) int64 {
	v := r.value(column)
	if v.kind == float {
		f := math.Float64frombits(uint64(v.number))
		if !(math.Abs(f) < 1<<62) {
			return 0
		}
		return int64(f)
	}
	return v.number
}

// Columns returns the names of the columns, in order.
func (r Row) Columns() []string { return slices.Sorted(maps.Keys(r.columns)) }

// Has reports whether a column has a value.
func (r Row) Has(column string) bool { return r.value(column).kind != null }
