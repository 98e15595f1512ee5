// Package revisions says what commits did to one conversation: turns that were added or edited,
// renames, moves into the archive; and how it reads in one commit, the index or the working tree. A
// conversation is its id, wherever its directory was.
package revisions
