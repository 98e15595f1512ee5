// Package atomicfile creates all files and directories of this program: below an [os.Root], under a
// temporary name, synced, then renamed.
//
// What it keeps true: a reader who opens the name, at any time and after a crash at any point,
// finds the complete old file or the complete new one, or no file if there was none. After [Write]
// returned without an error, the new file survives a power failure. An error before the rename
// leaves the old file unchanged and removes the temporary; an error after it (syncing the
// directory) leaves the new file, which a power failure may undo. A process that is killed can
// leave its temporary, which only the collector reads.
//
// A step is one system call that changes something; [Options.Hook] is called before each, so that
// tests can make it fail, or die there.
//
// [Output] writes a file that a user named for an answer: completely or not at all, and unsynced.
//
// [Replace] and [Remove] are for files that other programs write too, also without a lock: they
// replace and remove only the content that their caller has read. A [Spare] makes it cheap to
// replace a long file many times.
//
// What it does not promise: order between two calls of [Write] for one name (the last rename wins),
// one step for several files ([Group] publishes each file by itself), following a symbolic link at
// the name (it is replaced), owners, access lists and extended attributes of the old file, and
// durability of a directory that another process has just created and not yet synced. On Windows
// directories are not synced.
package atomicfile
