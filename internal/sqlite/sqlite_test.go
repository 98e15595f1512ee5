package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/sqlite"
)

// textOf and the others return what testdata/make.py wrote into row i.
func textOf(i int) string {
	if i%10 == 9 {
		return ""
	}
	return fmt.Sprintf("row %d ", i) + strings.Repeat("ä", i%7*60)
}

func groupOf(i int) string { return fmt.Sprintf("group %02d", i*7%20) }

func numberOf(i int) int64 {
	return []int64{int64(i), int64(-i), 1 << (i % 63), 0, 0, 1}[i%6]
}

func checkRow(t *testing.T, r sqlite.Row) {
	t.Helper()
	i := int(r.Int("key")) - 1
	if r.Text("text") != textOf(i) || r.Has("text") == (i%10 == 9) {
		t.Errorf("row %d has text %.40q", i, r.Text("text"))
	}
	if r.Text("grp") != groupOf(i) {
		t.Errorf("row %d has grp %q", i, r.Text("grp"))
	}
	if r.Int("number") != numberOf(i) || r.Has("number") == (i%6 == 3) {
		t.Errorf("row %d has number %d", i, r.Int("number"))
	}
	if r.Int("real") != int64(i/4) {
		t.Errorf("row %d has real %d", i, r.Int("real"))
	}
	if got := r.Bytes("data"); len(got) != i%40 || len(got) > 0 && got[0] != byte(i) {
		t.Errorf("row %d has data %x", i, got)
	}
}

// view reads a database that must be readable.
func view(t *testing.T, name string, read func(*sqlite.Database) error) {
	t.Helper()
	if err := sqlite.View(t.Context(), name, read); err != nil {
		t.Fatal(err)
	}
}

func TestEach(t *testing.T) {
	n := 0
	view(t, "testdata/rows.db", func(db *sqlite.Database) error {
		return db.Table("Rows").Each(func(r sqlite.Row) error {
			if n++; n > 200 {
				if r.Text("late") != "here" {
					t.Errorf("the column that was added has %q", r.Text("late"))
				}
				return nil
			}
			checkRow(t, r)
			if r.Has("late") || r.Has("none") {
				t.Errorf("row %d has a column that it was written without", n)
			}
			return nil
		})
	})
	if n != 201 {
		t.Errorf("%d rows, want 201", n)
	}
}

func TestWhere(t *testing.T) {
	for g := range 21 {
		group := fmt.Sprintf("group %02d", g)
		var got []int64
		view(t, "testdata/rows.db", func(db *sqlite.Database) error {
			return db.Table("rows").Where("grp", group, func(r sqlite.Row) error {
				checkRow(t, r)
				got = append(got, r.Int("key"))
				return nil
			})
		})
		var want []int64
		for i := range 200 {
			if groupOf(i) == group {
				want = append(want, int64(i+1))
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("rows of %s: %v, want %v", group, got, want)
		}
	}
}

// An index that is not in the order of bytes is not used.
func TestWhereFolded(t *testing.T) {
	var got []int64
	view(t, "testdata/rows.db", func(db *sqlite.Database) error {
		return db.Table("folded").Where("name", "a", func(r sqlite.Row) error {
			got = append(got, r.Int("n"))
			return nil
		})
	})
	if !slices.Equal(got, []int64{2}) {
		t.Errorf("rows %v, want 2", got)
	}
}

func TestLog(t *testing.T) {
	n := 0
	read := func(db *sqlite.Database) error {
		n = 0
		return db.Table("rows").Each(func(r sqlite.Row) error {
			if n++; n > 1 {
				checkRow(t, r)
			} else if r.Text("text") != "changed" {
				t.Errorf("row 1 has %.40q", r.Text("text"))
			}
			return nil
		})
	}
	dir := copyOf(t, "log.db")
	view(t, filepath.Join(dir, "log.db"), read)
	if n != 90 {
		t.Errorf("%d rows, want 90", n)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"log.db", "log.db-wal"}) {
		t.Errorf("reading left %v", got)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(filepath.Join(dir, "log.db"), link); err == nil {
		n = 0
		if view(t, link, read); n != 90 { // the log is beside the file itself
			t.Errorf("%d rows through a link, want 90", n)
		}
	}
	if err := os.Remove(filepath.Join(dir, "log.db-wal")); err != nil {
		t.Fatal(err)
	}
	n = 0
	view(t, filepath.Join(dir, "log.db"), func(db *sqlite.Database) error {
		return db.Table("rows").Each(func(sqlite.Row) error { n++; return nil })
	})
	if n != 50 {
		t.Errorf("%d rows without the log, want 50", n)
	}
}

// A read-only database is read like any other.
func TestReadOnly(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	dir := copyOf(t, "log.db")
	for _, name := range names(t, dir) {
		if err := os.Chmod(filepath.Join(dir, name), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	n := 0
	view(t, filepath.Join(dir, "log.db"), func(db *sqlite.Database) error {
		return db.Table("rows").Each(func(sqlite.Row) error { n++; return nil })
	})
	if n != 90 {
		t.Errorf("%d rows, want 90", n)
	}
}

func TestRefused(t *testing.T) {
	hot := copyOf(t, "rows.db")
	write(t, filepath.Join(hot, "rows.db-journal"), "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more")
	other := t.TempDir()
	write(t, filepath.Join(other, "text"), strings.Repeat("SQLite format 4\x00", 20))
	for name, want := range map[string]error{
		filepath.Join(hot, "rows.db"):  sqlite.ErrBusy,
		filepath.Join(other, "text"):   sqlite.ErrNotDatabase,
		filepath.Join(other, "absent"): fs.ErrNotExist,
		"testdata/utf16.db":            sqlite.ErrUnknown,
	} {
		err := sqlite.View(t.Context(), name, func(*sqlite.Database) error { return nil })
		if !errors.Is(err, want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	view(t, "testdata/rows.db", func(db *sqlite.Database) error {
		err := db.Table("bare").Each(func(sqlite.Row) error { return nil })
		if !errors.Is(err, sqlite.ErrUnknown) {
			t.Errorf("a table without row ids: %v", err)
		}
		return nil
	})
}

// The journal of an ended transaction is ignored.
func TestJournalThatIsOver(t *testing.T) {
	dir := copyOf(t, "rows.db")
	for _, over := range []string{"", strings.Repeat("\x00", 28) + "left"} {
		write(t, filepath.Join(dir, "rows.db-journal"), over)
		view(t, filepath.Join(dir, "rows.db"), func(*sqlite.Database) error { return nil })
	}
}

// changes are what another process can do while a database is read.
var changes = map[string]func(t *testing.T, dir string){
	"the log is checkpointed and removed": func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, "log.db-wal")); err != nil {
			t.Fatal(err)
		}
	},
	"the log is begun anew": func(t *testing.T, dir string) {
		patch(t, filepath.Join(dir, "log.db-wal"), 12, "new checkpoint")
	},
	"the log is emptied": func(t *testing.T, dir string) {
		if err := os.Truncate(filepath.Join(dir, "log.db-wal"), 0); err != nil {
			t.Fatal(err)
		}
	},
	"the log is another file": func(t *testing.T, dir string) {
		name := filepath.Join(dir, "log.db-wal")
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.Remove(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, name, string(data))
	},
	"a transaction begins": func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, "log.db-journal"), "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
	},
}

func TestChangedMeanwhile(t *testing.T) {
	for what, change := range changes {
		t.Run(what, func(t *testing.T) {
			dir := copyOf(t, "log.db")
			tries := 0
			err := sqlite.View(t.Context(), filepath.Join(dir, "log.db"),
				func(db *sqlite.Database) error {
					if tries++; tries == 1 {
						change(t, dir)
					}
					return db.Table("rows").Each(func(sqlite.Row) error { return nil })
				})
			if left := what == "a transaction begins"; (err != nil) != left || tries != 2 && !left {
				t.Errorf("%v after %d tries", err, tries)
			}
		})
	}
}

func TestChangedWithoutLog(t *testing.T) {
	dir := copyOf(t, "rows.db")
	name := filepath.Join(dir, "rows.db")
	tries := 0
	view(t, name, func(*sqlite.Database) error {
		if tries++; tries == 1 {
			patch(t, name, 24, "\x00\x00\xff\xff")
		}
		return nil
	})
	if tries != 2 {
		t.Errorf("read %d times, want 2", tries)
	}
}

// Added frames only matter if they can have overwritten what was read.
func TestAddedFrames(t *testing.T) {
	whole, err := os.ReadFile("testdata/log.db-wal")
	if err != nil {
		t.Fatal(err)
	}
	// The last transaction changes a page of one table, which the one before it did not write.
	const frame = 24 + 1024
	var ends []int
	for at := 32; at+frame <= len(whole); at += frame {
		if !bytes.Equal(whole[at+4:at+8], make([]byte, 4)) {
			ends = append(ends, at+frame)
		}
	}
	before := ends[len(ends)-2]
	for _, c := range []struct {
		table string
		tries int
	}{{"folded", 1}, {"rows", 2}} {
		dir := copyOf(t, "log.db")
		name := filepath.Join(dir, "log.db-wal")
		write(t, name, string(whole[:before]))
		tries := 0
		view(t, filepath.Join(dir, "log.db"), func(db *sqlite.Database) error {
			tries++
			err := db.Table(c.table).Each(func(sqlite.Row) error { return nil })
			write(t, name, string(whole))
			return err
		})
		if tries != c.tries {
			t.Errorf("%s was read %d times, want %d", c.table, tries, c.tries)
		}
	}
}

func TestCutAtEveryPage(t *testing.T) {
	for name, page := range map[string]int{"rows.db": 512, "log.db": 1024, "log.db-wal": 524} {
		whole, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		dir := copyOf(t, strings.TrimSuffix(name, "-wal"))
		for end := 0; end < len(whole); end += page {
			write(t, filepath.Join(dir, name), string(whole[:end]))
			// Read or refused, but never a row that was not written.
			err := sqlite.View(t.Context(),
				filepath.Join(dir, strings.TrimSuffix(name, "-wal")),
				func(db *sqlite.Database) error {
					return db.Table("rows").Each(func(r sqlite.Row) error {
						if i := int(r.Int("key")) - 1; i < 200 && r.Text("grp") != groupOf(i) {
							t.Errorf("%s cut at %d: row %d has %q", name, end, i, r.Text("grp"))
						}
						return nil
					})
				})
			if err != nil && !errors.Is(err, sqlite.ErrDamaged) &&
				!errors.Is(err, sqlite.ErrNotDatabase) {
				t.Errorf("%s cut at %d: %v", name, end, err)
			}
		}
	}
}

func FuzzView(f *testing.F) {
	for _, name := range []string{"rows.db", "log.db"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		log, _ := os.ReadFile("testdata/" + name + "-wal")
		f.Add(data[:min(len(data), 40<<10)], log)
	}
	f.Fuzz(func(t *testing.T, data, log []byte) {
		name := filepath.Join(t.TempDir(), "f.db")
		write(t, name, string(data))
		write(t, name+"-wal", string(log))
		rows := 0
		_ = sqlite.View(t.Context(), name, func(db *sqlite.Database) error {
			return errors.Join(
				db.Table("rows").Each(func(sqlite.Row) error { rows++; return nil }),
				db.Table("rows").Where("grp", "group 01", func(sqlite.Row) error { return nil }))
		})
		if most := len(data) + len(log); rows > most {
			t.Errorf("%d rows in %d bytes", rows, most)
		}
	})
}

func copyOf(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile("testdata/" + name + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name+end), string(data))
	}
	return dir
}

func write(t *testing.T, name, data string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func patch(t *testing.T, name string, at int, data string) {
	t.Helper()
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	copy(whole[at:], data)
	write(t, name, string(whole))
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, e := range all {
		found[e.Name()] = true
	}
	return slices.Sorted(maps.Keys(found))
}
