// Package opencode reads the sessions of opencode: rows of one SQLite database, or, before
// version 1.2, a tree of JSON files.
//
// Messages and their parts are changed in place, so what a session says is a function of the
// whole of it.
package opencode
