// Package gc deletes content that nothing can need, and can take it back.
//
// The words. A root is a name under which git keeps something, or may be asked for it: a
// ref, a HEAD, a reflog entry, an operation in progress, an index, a working tree. A tip is a
// root that somebody may commit or merge next; history is everything that can be reached
// besides. A content is wanted when a tip refers to it, and needed when an older commit
// refers to it and does not carry it, because then the file may be the last copy. What is
// neither, and older than the grace period, is dead. A run is one collection, and its
// quarantine.
//
// What it keeps true:
//
//   - The set of references that resolve never shrinks: at any tip, after any merge of
//     tips, after a crash at any system call, with writers at work.
//   - All roots of all working trees, or no deletion. What cannot be read, or cannot be
//     known to be everything, is a [RefusedError] that names it.
//   - Nothing is deleted that was not in the quarantine for the grace period and was found
//     dead a second time. [Undo] brings back files and entries of the index.
//   - A blob of a run that was not finished is in its place or in the quarantine, and the
//     next command moves it back.
//   - Caches change how long it takes and nothing else.
//
// How. Roots are listed, then [MakePlan] marks what tips refer to, then history is asked for
// what is left of the store, then [Sweep] moves the dead into the quarantine and marks
// again. Writers store a blob, then the stream, then look whether the blob is still there:
// one that is faster than the second mark is seen by it, one that is slower sees what was
// moved and writes it again. The argument in full is in docs/safety.md.
//
// In a partial clone what the remote has promised and is not here proves nothing. What the mark
// and the second opinion read is looked for first; what is missing of it is fetched in one
// request where that was asked for, else nothing is deleted.
//
// What it does not promise: branches of remotes that were not fetched; network file systems
// without atomic renames or shared locks; clocks that are wrong by more than the grace
// period; and writers that refer to old content without looking for it afterwards, beyond
// the grace period that stamping a blob gives them.
package gc
