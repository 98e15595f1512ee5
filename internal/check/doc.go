// Package check says what is wrong with the conversations of a tree: of a revision, of
// the index, of the working tree, or of each commit of a range.
//
// # Words
//
// A source is such a tree. A workspace is a directory .jp in it. A reference is
// present when the source has an entry at the blob's path that is a regular file, whose
// object exists, and that is no Git LFS pointer; that is also what it means that a
// tree carries a blob. A finding is one thing that is wrong, with its place and the next
// command.
//
// # What holds
//
// Each finding has one [State], and states are not mixed up: what was not fetched is
// not reported as missing, what cannot be seen here (a shallow or partial
// clone, content in Git LFS) is unchecked and not corrupt, and a damaged conversation
// never hides another one. Findings do not depend on the cache, on the order of
// commits that have the same tree, or on the number of workers.
//
// A range costs little more than its first commit: of each further one only the
// directories are read whose object ids differ from those of the commit before it.
//
// # What is not promised
//
// Presence is not soundness: unless [Options.Content] is set, no blob is opened, but
// for files so small that they may be Git LFS pointers. Nothing is repaired, nothing but
// the cache of internal/refs is written, and no process is started: sources come
// from the caller. Whether the drivers are registered and the hooks fire is not visible
// in a tree; the caller adds such findings with [Report.Add].
package check
