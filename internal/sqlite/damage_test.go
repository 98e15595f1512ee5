package sqlite_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/internal/sqlite"
)

// readRows reads the rows of a database that may be damaged, all of them or up to the error.
func readRows(t *testing.T, name string) (keys []int64, err error) {
	t.Helper()
	err = sqlite.View(t.Context(), name, func(db *sqlite.Database) error {
		keys = nil
		return db.Table("rows").Each(func(r sqlite.Row) error {
			keys = append(keys, r.Int("key"))
			return nil
		})
	})
	for _, known := range []error{
		sqlite.ErrDamaged, sqlite.ErrNotDatabase, sqlite.ErrUnknown, sqlite.ErrBusy,
	} {
		if errors.Is(err, known) {
			return keys, known
		}
	}
	if err != nil {
		t.Errorf("an error without a name: %v", err)
	}
	return keys, err
}

// damages are kinds of damage to a page.
var damages = map[string]func(page, other []byte){
	"zeros": func(page, _ []byte) { clear(page) },
	"ones":  func(page, _ []byte) { copy(page, bytes.Repeat([]byte{0xff}, len(page))) },
	"noise": func(page, _ []byte) {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range page {
			page[i] = byte(r.Uint32())
		}
	},
	"another page": func(page, other []byte) { copy(page, other) },
	"many cells":   func(page, _ []byte) { copy(page[3:], "\xff\xff") },
	"cells twice":  func(page, _ []byte) { copy(page[10:12], page[8:10]) },
}

// TestDamageAtEveryPage verifies that a database with any damaged page is read or refused by name:
// no row comes more often than there is room for, and every read ends.
func TestDamageAtEveryPage(t *testing.T) {
	for file, size := range map[string]int{"rows.db": 512, "log.db": 1024} {
		whole, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for what, damage := range damages {
			for at := 0; at+size <= len(whole); at += size {
				data := bytes.Clone(whole)
				other := (at + 3*size) % (len(whole) - size)
				damage(data[at:at+size], whole[other:other+size])
				name := filepath.Join(t.TempDir(), file)
				write(t, name, string(data))
				keys, err := readRows(t, name)
				if err != nil {
					refused++
				}
				if len(keys) > len(whole)/8 {
					t.Errorf("%s, %s at %d: %d rows", file, what, at, len(keys))
				}
			}
		}
		if refused < len(whole)/size {
			t.Errorf("%s: only %d damages were found", file, refused)
		}
	}
}

// TestLogCutAnywhere verifies that in a log that ends anywhere, as after its program was killed,
// the complete transactions count: each cut gives the rows of one of them.
func TestLogCutAnywhere(t *testing.T) {
	whole, err := os.ReadFile("testdata/log.db-wal")
	if err != nil {
		t.Fatal(err)
	}
	dir := copyOf(t, "log.db")
	name := filepath.Join(dir, "log.db")
	var counts []int
	for end := len(whole); end >= 0; end -= 131 {
		write(t, name+"-wal", string(whole[:end]))
		keys, err := readRows(t, name)
		if err != nil {
			t.Errorf("cut at %d: %v", end, err)
			continue
		}
		if n := len(counts); n == 0 || counts[n-1] != len(keys) {
			counts = append(counts, len(keys))
		}
	}
	if counts[0] != 90 || counts[len(counts)-1] != 50 || !slices.IsSortedFunc(
		counts, func(a, b int) int { return b - a }) {
		t.Errorf("the rows of the cuts are %v, want 90 to 50", counts)
	}
}

// TestDeclaredSizes verifies that the sizes that a database declares cost no memory: only the size
// of the file counts.
func TestDeclaredSizes(t *testing.T) {
	whole, err := os.ReadFile("testdata/rows.db")
	if err != nil {
		t.Fatal(err)
	}
	const page, rows = 512, 201
	huge := "\x87\xff\xff\xff\x7f" // 2 GiB, as a number of a cell
	for what, patch := range map[string]func([]byte){
		"pages":      func(b []byte) { binary.BigEndian.PutUint32(b[28:], 0xffffffff) },
		"page size":  func(b []byte) { binary.BigEndian.PutUint16(b[16:], 1) },
		"reserved":   func(b []byte) { b[20] = 0xff },
		"odd size":   func(b []byte) { binary.BigEndian.PutUint16(b[16:], 0x7fff) },
		"long rows":  func(b []byte) { eachLeaf(b, page, func(cell []byte) { copy(cell, huge) }) },
		"long heads": func(b []byte) { eachLeaf(b, page, func(cell []byte) { copy(cell[2:], huge) }) },
	} {
		data := bytes.Clone(whole)
		patch(data)
		name := filepath.Join(t.TempDir(), "rows.db")
		write(t, name, string(data))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		keys, err := readRows(t, name)
		runtime.ReadMemStats(&after)
		if err == nil && len(keys) != rows {
			t.Errorf("%s: %d rows and no error", what, len(keys))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
			t.Errorf("%s: it took %d bytes to read %d", what, took, len(data))
		}
	}
}

// TestRowsThatShareTheirPages verifies that rows which name each other's pages are refused: a file
// would read as many times itself.
func TestRowsThatShareTheirPages(t *testing.T) {
	data, err := os.ReadFile("testdata/rows.db")
	if err != nil {
		t.Fatal(err)
	}
	const page, cells, at, here = 512, 20, 60, 56
	pages := len(data) / page
	loop := data[len(data)-page:]
	binary.BigEndian.PutUint32(loop, uint32(pages)) // the last page continues with itself
	// A row of 60000 bytes, of which 56 are in the leaf: a header, and one column of bytes.
	row := append([]byte("\x83\xd4\x60\x01\x04\x87\xa9\x44"), make([]byte, page)...)
	for start := page; start+page < len(data); start += page {
		leaf := data[start : start+page]
		if leaf[0] != 0x0d || bytes.Contains(leaf, []byte("CREATE")) { // the schema stays
			continue
		}
		binary.BigEndian.PutUint16(leaf[3:], cells)
		for i := range cells {
			binary.BigEndian.PutUint16(leaf[8+2*i:], at)
		}
		copy(leaf[at:], row)
		binary.BigEndian.PutUint32(leaf[at+4+here:], uint32(pages))
	}
	name := filepath.Join(t.TempDir(), "rows.db")
	write(t, name, string(data))
	keys, err := readRows(t, name)
	if !errors.Is(err, sqlite.ErrDamaged) || len(keys) > 1 {
		t.Errorf("%d rows of 60000 bytes in %d: %v", len(keys), len(data), err)
	}
}

// TestTreesThatShareTheirPages verifies the same for trees: a page that many name is not read by
// each.
func TestTreesThatShareTheirPages(t *testing.T) {
	data, err := os.ReadFile("testdata/rows.db")
	if err != nil {
		t.Fatal(err)
	}
	const page, cells, at = 512, 200, 500
	var inner []int
	leaf := 0
	for start := page; start+page <= len(data); start += page {
		switch {
		case data[start] == 0x05:
			inner = append(inner, start)
		case data[start] == 0x0d && !bytes.Contains(data[start:start+page], []byte("CREATE")):
			leaf = start/page + 1
		}
	}
	if len(inner) < 2 || leaf == 0 {
		t.Fatalf("inner pages at %v, a leaf at %d", inner, leaf)
	}
	for i, start := range inner {
		next := leaf
		if i < len(inner)-1 {
			next = inner[i+1]/page + 1
		}
		all := data[start : start+page]
		binary.BigEndian.PutUint16(all[3:], cells)
		binary.BigEndian.PutUint32(all[8:], uint32(next))
		for c := range cells {
			binary.BigEndian.PutUint16(all[12+2*c:], at)
		}
		binary.BigEndian.PutUint32(all[at:], uint32(next))
	}
	name := filepath.Join(t.TempDir(), "rows.db")
	write(t, name, string(data))
	keys, err := readRows(t, name)
	if !errors.Is(err, sqlite.ErrDamaged) || len(keys) > len(data)/8 {
		t.Errorf("%d rows in %d bytes: %v", len(keys), len(data), err)
	}
}

// eachLeaf calls change for each cell of the leaves of tables.
func eachLeaf(data []byte, size int, change func(cell []byte)) {
	for at := size; at+size <= len(data); at += size {
		page := data[at : at+size]
		if page[0] != 0x0d {
			continue
		}
		for i := range min(int(binary.BigEndian.Uint16(page[3:])), size/4) {
			cell := int(binary.BigEndian.Uint16(page[8+2*i:]))
			if cell < size-8 {
				change(page[cell:])
			}
		}
	}
}
