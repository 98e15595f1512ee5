package sqlite_test

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/sqlite"
)

// schemaOf returns a database whose schema is one row with this content.
func schemaOf(payload []byte) []byte {
	const page, least = 512, 39
	here := least + (len(payload)-least)%(page-4)
	if here > page-35 {
		here = least
	}
	first := make([]byte, page)
	copy(first, "SQLite format 3\x00\x02\x00\x01\x01\x00\x40\x20\x20")
	binary.BigEndian.PutUint32(first[56:], 1) // UTF-8
	const tree, cell = 100, 120
	first[tree] = 0x0d
	binary.BigEndian.PutUint16(first[tree+3:], 1)
	binary.BigEndian.PutUint16(first[tree+8:], cell)
	n := uint32(len(payload))
	head := []byte{0x80 | byte(n>>21), 0x80 | byte(n>>14), 0x80 | byte(n>>7), byte(n & 0x7f), 1}
	at := cell + copy(first[cell:], head)
	at += copy(first[at:], payload[:here])
	all, next := first, uint32(2)
	binary.BigEndian.PutUint32(first[at:], next)
	for rest := payload[here:]; len(rest) > 0; rest = rest[min(len(rest), page-4):] {
		next++
		if len(rest) <= page-4 {
			next = 0
		}
		more := make([]byte, page)
		binary.BigEndian.PutUint32(more, next)
		copy(more[4:], rest)
		all = append(all, more...)
	}
	return all
}

// sized returns a number of 4 bytes, as in a header.
func sized(n int) string {
	return string([]byte{0x80 | byte(n>>21), 0x80 | byte(n>>14), 0x80 | byte(n>>7), byte(n & 0x7f)})
}

// TestRowsWithinTheLimitsOfSQLite refuses rows of more columns and statements of more text than
// SQLite has: a value takes one byte in a row, and many in memory.
func TestRowsWithinTheLimitsOfSQLite(t *testing.T) {
	const n = 1 << 18
	table := func(sql string) []byte {
		types := "\x17\x15\x15\x01" + sized(13+2*len(sql)) // table, rows, rows, 2, the statement
		return []byte(string(rune(1+len(types))) + types + "tablerowsrows\x02" + sql)
	}
	for what, tt := range map[string]struct {
		payload []byte
		want    error
	}{
		"columns": {[]byte(sized(n) + strings.Repeat("\x00", n-4)), sqlite.ErrDamaged},
		"quotes":  {table(`CREATE TABLE t ("` + strings.Repeat(`""`, n/2) + `")`), sqlite.ErrUnknown},
		"quoted":  {table(`CREATE TABLE t ("` + strings.Repeat(`""`, 32000) + `" TEXT)`), sqlite.ErrDamaged},
		"signs":   {table("CREATE TABLE t (a" + strings.Repeat(",b", n*4) + ")"), sqlite.ErrUnknown},
	} {
		data := schemaOf(tt.payload)
		name := filepath.Join(t.TempDir(), "rows.db")
		write(t, name, string(data))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readRows(t, name)
		runtime.ReadMemStats(&after)
		if took := int(after.TotalAlloc - before.TotalAlloc); took > 8*len(data) {
			t.Errorf("%s: it took %d bytes to read %d", what, took, len(data))
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", what, err, tt.want)
		}
	}
}
