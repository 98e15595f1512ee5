// Package site makes a folder of pages of conversations: a list, a page each, and a search that
// needs no server.
//
// A folder is made again by writing what changed. It belongs to this package: its manifest names
// every file, and a folder with files but without a manifest is refused, so nothing of somebody
// else's is replaced or removed.
package site
