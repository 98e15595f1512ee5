// Package sqlite reads tables of SQLite databases that other programs write, and never writes.
//
// It implements as much of the file format (https://sqlite.org/fileformat2.html) as reading rows
// needs: table and index b-trees, overflow pages, and the write-ahead log. It takes no locks and
// has no wal-index, so it creates no file beside a database, the database's program never waits for
// a reader, and a read-only directory makes no difference. It finds out afterwards whether another
// process wrote what was read in between: [View] then reads again.
//
// It does not support tables WITHOUT ROWID, virtual tables, text in UTF-16, nor rolling back the
// journal of a program that crashed. It reports these by name.
package sqlite
