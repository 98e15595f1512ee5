// Package quarantine keeps the files that commands change or remove, so that they can be restored.
//
// A command quarantines files in a directory of its own, beside the runs of garbage collection. The
// first file in it records since when it exists and how long it is kept at least. A conversation
// that is compacted in place is quarantined with every blob that only it refers to, one that is
// redacted also with its metadata and the name of its directory; a repair quarantines single files.
//
// What it keeps true: a quarantined file is complete and synced before the call returns. The record
// of a conversation's copy is written last; without it there is no copy. When a copy is restored,
// what was added or changed since is kept; a conversation that was changed in the same places, or
// redacted, since is left as it is.
// Files are restored only to a place that is free, a directory in one step. Nothing is removed
// before its time or without a manifest, and from the first step of a removal on the rest is not
// taken for a copy.
//
// What it does not promise: that it survives if the user empties the directory. It is in a place
// where everything may be deleted at any time; that only makes it impossible to restore.
//
// The journal of package gc is beside it. They share the directory, the listing and the time of a
// sweep, but not the writing: garbage collection moves blobs rather than copying them, knows
// everything that a run moves before it moves the first, and uses that to undo a crash.
package quarantine
