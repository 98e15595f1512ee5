// Package quarantine keeps what commands change or remove, so that it can be restored.
//
// A command quarantines files in a directory of its own, beside the runs of the collector. Its
// first file records since when it is there and until when it stays at least. A conversation that
// is compacted in place is quarantined with every blob that only it refers to; a repair quarantines
// single files.
//
// What it keeps true: a file that was quarantined is whole and synced before the call returns. A
// copy of a conversation without its record, which is written last, is none, and is given back
// only to a conversation that still begins with what it was changed to; what came after that is
// kept. Files are given back only to a place that is free, a directory in one step. Nothing is
// removed before its time, nor without a manifest; what is being removed is no copy any more
// from the first step on.
//
// What it does not promise: that it stays when somebody empties the directory. It lies where
// everything may be deleted at any time, and costs nothing but the way back.
//
// The journal of package gc lies beside it and shares the directory, the listing and the time
// of a sweep, and not the writing: its blobs are moved and not copied, all that a run moves is
// known before the first, and a crash in the middle is undone from that.
package quarantine
