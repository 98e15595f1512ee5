// Package check finds faults in the conversations of a tree: of a revision, of the index, of the
// working tree, or of each commit of a range.
//
// # Words
//
// A source is such a tree. A workspace is a directory .jp in it. A reference is present if the
// source has a regular file at the blob's path, whose object exists and which is not a Git LFS
// pointer; "the tree carries the blob" means the same. A finding is one fault, with its place and
// the next command.
//
// # What holds
//
// Each finding has one [State], and states are not mixed up: content that was not fetched is not
// reported as missing, content that cannot be seen here (because of a shallow or partial clone, or
// Git LFS) is unchecked and not corrupt, and a damaged conversation never hides another one.
// Findings do not depend on the cache, on the order of commits with the same tree, or on the number
// of workers.
//
// A range costs little more than its first commit: each further commit only requires reading the
// directories whose object ids differ from those in the commit before it.
//
// # What is not promised
//
// A blob that is present may be damaged: unless [Options.Content] is set, no blob is opened, except
// for files small enough to be Git LFS pointers. Check repairs nothing, writes nothing but the
// cache of internal/refs, and starts no process: sources come from the caller. Whether the drivers
// are registered and the hooks run is not visible in a tree; the caller adds such findings with
// [Report.Add].
package check
