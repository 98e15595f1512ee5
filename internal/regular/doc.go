// Package regular reads files that may be something else, or far too much.
//
// Opening a named pipe waits for somebody who writes to it, for ever if nobody does, and no
// signal that the program handles ends the wait. A file of three megabytes in Git can have
// three gigabytes where it is read. So whoever reads a file of a directory that others fill
// too, a working tree or a store, asks first what lies there and how much of it there is; and
// is held to the answer, because the file can be another one a moment later.
package regular
