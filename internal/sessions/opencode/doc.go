// Package opencode reads the sessions of opencode: rows of one SQLite database, or, before version
// 1.2, a tree of JSON files.
//
// Messages and their parts are changed in place, so a session is always read completely.
package opencode
