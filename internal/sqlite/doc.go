// Package sqlite reads tables of SQLite databases that other programs write, and never writes.
//
// It knows the file format (https://sqlite.org/fileformat2.html) as far as reading rows needs it:
// table and index b-trees, overflow pages, and the write-ahead log. It takes no locks and has no
// wal-index, so nothing is made beside a database, its program never waits for a reader, and a
// directory that may not be written in is no different. Whether another process wrote what was
// read in between is found out afterwards: [View] reads again then.
//
// It does not know tables WITHOUT ROWID, virtual tables, text in UTF-16, nor how to undo what a
// program that crashed left half done in a rollback journal. It says so.
package sqlite
