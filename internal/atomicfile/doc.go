// Package atomicfile is the one way in which files and directories of ours come to
// be: below an [os.Root], under a temporary name, synced, then renamed.
//
// What it keeps true: whoever opens the name, at any time and after a crash at any
// point, finds the old file or the new one, whole, or no file where there was none.
// After [Write] returned without an error, the new one survives a power failure. An
// error before the rename leaves the old file as it was and removes the temporary; an
// error after it (syncing the directory) leaves the new file, which a power failure
// may take back. A process that is killed can leave its temporary, which nobody but
// the collector looks at.
//
// A step is one system call that changes something; [Options.Hook] sees each before
// it happens, so that tests can fail it, or die there.
//
// [Output] writes what a user named as the place of an answer: whole or not at all, and unsynced.
//
// [Replace] and [Remove] are for files that other programs write too, also without a lock: they
// replace and remove only the content that their caller has read.
//
// What it does not promise: order between two calls of [Write] for one name (the last rename
// wins), one step for several files ([Group] publishes each
// file by itself), following a symbolic link at the name (it is replaced), owners,
// access lists and extended attributes of the old file, and durability of a directory
// that another process made an instant before and has not yet synced itself. On
// Windows directories are not synced.
package atomicfile
