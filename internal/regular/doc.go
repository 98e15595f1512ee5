// Package regular reads files that may be something else, or far too large.
//
// Opening a named pipe blocks until a writer opens it, possibly for ever, and no signal that the
// program handles ends the wait. A file of three megabytes in git can have three gigabytes when it
// is read. So code that reads a file of a directory that others write to as well, such as a working
// tree or a store, first checks its type and size; and the read is limited to the result, because
// the file can be replaced a moment later.
package regular
