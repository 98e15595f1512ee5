// Package regular reads files that may be something else.
//
// Opening a named pipe waits for somebody who writes to it, for ever if nobody does, and no
// signal that the program handles ends the wait. So whoever reads a file of a directory that
// others fill too, a working tree or a store, asks first what lies there.
package regular
