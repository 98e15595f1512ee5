package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/git-jp/git-jp/internal/regular"
)

// A Database is a snapshot of a database, valid while [View] runs.
type Database struct {
	snapshot *snapshot
	tables   map[string]*Table
}

// A Table is one of its tables.
type Table struct {
	database *Database
	name     string
	root     uint32
	columns  map[string]int // the position of each in a row
	types    [][]string
	alias    int      // the column that is the row's id, -1 for none
	unique   []string // columns that have an index without a name of its own
	collated map[string]bool
	indexes  map[string]uint32 // roots, by the first column
	err      error             // why it cannot be read
}

func unreadable(table, why string) error {
	return fmt.Errorf("%w: table %s %s", ErrUnknown, table, why)
}

// How often a database that another process writes is read again, and the pause in between.
const (
	maxTries = 6
	pause    = 20 * time.Millisecond
)

// View calls read with a snapshot of a database. If another process wrote what was read, View calls
// it again, so read must discard its earlier results, and leave irreversible steps to its caller.
// If the other process leaves no time in between, the error is [ErrBusy].
func View(ctx context.Context, name string, read func(*Database) error) error {
	var err error
	for try := range maxTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(pause):
			}
		}
		if err = view(name, read); err == nil || !mayPass(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// mayPass reports whether an error may be caused by a concurrent writer.
func mayPass(err error) bool { return errors.Is(err, ErrBusy) }

func view(name string, read func(*Database) error) (err error) {
	f, err := regular.OpenFile(name)
	if err != nil {
		return err
	}
	// SQLite has the log of a linked database beside the file itself.
	s := &snapshot{file: f, name: regular.Resolved(name)}
	defer func() { err = errors.Join(err, s.close()) }()
	db := &Database{snapshot: s}
	if err = s.open(); err == nil {
		err = db.schema()
	}
	if err == nil {
		err = read(db)
	}
	if s.info == nil {
		return err
	}
	// Data that was read while another process wrote can look like anything.
	changed := s.unchanged()
	if errors.Is(changed, ErrBusy) {
		return changed
	}
	return errors.Join(err, changed)
}

func newTable(db *Database, name string, root uint32) *Table {
	return &Table{
		database: db, name: name, root: root, alias: -1,
		columns: map[string]int{}, collated: map[string]bool{}, indexes: map[string]uint32{},
	}
}

// schema reads which tables exist.
func (db *Database) schema() error {
	master := newTable(db, "sqlite_schema", 1)
	master.columns = map[string]int{"type": 0, "name": 1, "tbl_name": 2, "rootpage": 3, "sql": 4}
	db.tables = map[string]*Table{}
	var indexes []Row
	err := master.Each(func(r Row) error {
		switch root := r.Int("rootpage"); {
		case r.Text("type") == "index" && root > 0:
			indexes = append(indexes, r)
		case r.Text("type") == "table" && root > 0: // a virtual one has none
			t := newTable(db, r.Text("name"), uint32(root))
			db.tables[fold(t.name)] = t
			return t.define(r.Text("sql"))
		}
		return nil
	})
	for _, r := range indexes {
		t := db.tables[fold(r.Text("tbl_name"))]
		column, ok := leads(r.Text("sql"))
		if t != nil && !r.Has("sql") && len(t.unique) == 1 && t.alias < 0 {
			column, ok = t.unique[0], t.unique[0] != ""
		}
		if ok && t != nil && !t.collated[column] {
			t.indexes[column] = uint32(r.Int("rootpage"))
		}
	}
	return err
}

// Has reports whether there is a table with all of these columns.
func (db *Database) Has(table string, columns ...string) bool {
	t := db.tables[fold(table)]
	for _, c := range columns {
		if t == nil {
			break
		}
		if _, ok := t.columns[c]; !ok {
			return false
		}
	}
	return t != nil
}

// IsEmpty reports whether no program has made a table yet.
func (db *Database) IsEmpty() bool { return len(db.tables) == 0 }

// Table returns a table. A missing one has no rows.
func (db *Database) Table(name string) *Table {
	if t := db.tables[fold(name)]; t != nil {
		return t
	}
	return &Table{database: db, name: name, err: errNone}
}

var errNone = fmt.Errorf("no such table: %w", fs.ErrNotExist)

// Each calls tell for the rows of a table in the order of their ids.
func (t *Table) Each(tell func(Row) error) error {
	if t.err != nil {
		return t.ignoreNone()
	}
	return t.named(t.database.snapshot.rows(t.root, func(id int64, payload []byte) (bool, error) {
		r, err := t.row(id, payload)
		if err == nil {
			err = tell(r)
		}
		return err == nil, err
	}))
}

func (t *Table) ignoreNone() error {
	if errors.Is(t.err, fs.ErrNotExist) {
		return nil
	}
	return t.err
}

func (t *Table) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table %s: %w", t.name, err)
}

func (t *Table) row(id int64, payload []byte) (Row, error) {
	values, err := record(payload)
	return Row{columns: t.columns, values: values, rowid: id, alias: t.alias}, err
}

// Where calls tell for the rows whose column is a text, by an index if there is one. Their order is
// that of their ids or of the index.
func (t *Table) Where(column, text string, tell func(Row) error) error {
	if t.err != nil {
		return t.ignoreNone()
	}
	root, ok := t.indexes[column]
	if !ok {
		return t.Each(func(r Row) error {
			if !r.Has(column) || r.Text(column) != text {
				return nil
			}
			return tell(r)
		})
	}
	s := t.database.snapshot
	left := s.pages
	return t.named(s.lookup(root, text, func(id int64) (bool, error) {
		payload, err := s.row(t.root, id, &left)
		if err == nil && payload == nil {
			err = damaged("an index names row %d, which is not there", id)
		}
		if err != nil {
			return false, err
		}
		r, err := t.row(id, payload)
		if err == nil {
			err = tell(r)
		}
		return err == nil, err
	}))
}
