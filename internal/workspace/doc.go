// Package workspace finds the .jp directory of a project and is the only way to change a
// conversation in it.
//
// The words. A workspace is a directory with a real directory .jp, not a symbolic link. A
// conversation is a directory below .jp/conversations, live, or below .jp/conversations/.archive.
// It is found by the number at the beginning of its name, never by the title after it. User-local
// storage is the directory in the user's data where jp keeps user-local conversations, sessions and
// locks of a workspace; it has a second, user-local, copy of most conversations. An [Entry] names
// one directory of one conversation.
//
// What the package keeps true:
//
//   - Every change of a conversation happens under the lock that jp takes, and every save is made
//     by [Workspace.Update] or [Workspace.UpdateDetails]: they write only what changed, in jp's
//     order, each file completely or not at all. An unchanged file is not written, so its
//     modification time does not change.
//   - Changes by programs without the lock, such as an editor or git checkout, are not overwritten:
//     the files are loaded again, and the change of this program is made again.
//   - A new conversation appears in one step, complete. A removed one disappears in one step.
//     Unfinished files of this program are never visible below conversations: temporaries are in
//     .jp/blobs/.tmp.
//   - A fault of one directory is a [Problem] beside the entries, and hides no other directory.
//     Directories that share an id are reported, not deleted.
//   - No path leads out of .jp or out of user-local storage: everything is opened through
//     [os.Root], and a symbolic link in place of a conversation or of one of its files is refused.
//   - Contents that a save put in the blob store exist when it returns.
//
// Two copies. The copy below .jp is read and written. A user-local one is used only if the
// workspace has none. A save makes the written file newer than its user-local copy, because jp
// reads the newer one; the copy itself is not changed. Archiving and removing move both, since jp
// would restore the conversation from the other one.
//
// User-local directories are created, merged and linked by jp. This package finds them by jp's
// rules, and creates one only for the first user-local conversation. Sessions are kept in
// user-local storage or, if there is none, in the user's data directory
// (git-jp/workspace/<id>/sessions), never below .jp.
//
// What it does not promise: readers take no lock and may see the files of a conversation from
// before and after a save; jp's own commands write without the lock; network file systems may not
// share flock; where the system cannot exchange two files in one step, a program without the lock
// can write at an unlucky moment, see [atomicfile.Replace].
package workspace
