// Package site makes a folder of pages of conversations: a list, a page for each, and a search that
// needs no server.
//
// A folder is updated by writing the changed pages. It belongs to this package: its manifest names
// every file, and a folder with files but without a manifest is refused, so no other file is
// replaced or removed.
package site
