// Package gc deletes unreachable content, and can undo that.
//
// The words. A root is a name under which git keeps something, or may be asked for it: a ref, a
// HEAD, a reflog entry, an operation in progress, an index, a working tree. A tip is a root that
// may be committed or merged next; history is everything else that is reachable. A content is
// wanted if a tip refers to it, and needed if an older commit refers to it without having the blob,
// because then the file may be the last copy. A content that is neither, and older than the grace
// period, is dead. A run is one collection, and its quarantine.
//
// What it keeps true:
//
//   - The set of references that resolve never shrinks: at any tip, after any merge of tips, after
//     a crash at any system call, with concurrent writers.
//   - All roots of all working trees are read, or nothing is deleted. If one cannot be read, or the
//     list may be incomplete, the error is a [RefusedError] that names it.
//   - Nothing is deleted that was not in the quarantine for the grace period and found dead a
//     second time. [Undo] restores files and entries of the index.
//   - A blob of an unfinished run is in its place or in the quarantine, and the next command moves
//     it back.
//   - Caches change the running time and nothing else.
//
// How. Roots are listed, then [MakePlan] marks what tips refer to, then it searches history for the
// remaining blobs of the store, then [Sweep] moves the dead ones into the quarantine and marks
// again. Writers store a blob, then the stream, then check whether the blob still exists: the
// second mark sees a stream that was written before it, and a later writer notices that its blob
// was moved and writes it again. docs/safety.md has the complete argument.
//
// In a partial clone a promised object that is missing proves nothing. The mark and the second
// opinion first list the objects that they need; missing ones are fetched in one request if that
// was allowed, else nothing is deleted.
//
// What it does not promise: branches of remotes that were not fetched; network file systems without
// atomic renames or shared locks; clocks that are wrong by more than the grace period; and writers
// that refer to old content without checking afterwards that it exists, beyond the grace period
// that stamping a blob gives them.
package gc
