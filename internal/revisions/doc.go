// Package revisions describes what commits did to one conversation: turns that were added or
// edited, renames, moves to the archive. It also shows the conversation in one commit, in the index
// or in the working tree. A conversation is identified by its id, wherever its directory was.
package revisions
