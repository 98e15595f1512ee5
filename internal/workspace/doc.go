// Package workspace finds the .jp directory of a project and is the only way to
// change a conversation in it.
//
// The words. A workspace is a directory with a real directory .jp; a symbolic link
// of that name is none. A conversation is a directory below .jp/conversations, live,
// or below .jp/conversations/.archive. It is found by the number that its name
// begins with, never by the title behind it. User-local storage is the directory in the user's
// data where jp keeps user-local conversations, sessions and locks of a workspace;
// it holds a second, user-local, copy of most conversations. An [Entry] names one
// directory of one conversation.
//
// What the package keeps true:
//
//   - Every change of a conversation happens under the lock that jp takes, and
//     every save goes through [Workspace.Update] or [Workspace.UpdateDetails]: they
//     write what changed, in jp's order, each file whole or not at all. Nothing
//     that changed nothing is written, so no modification time moves.
//   - Programs that change a conversation without the lock, as an editor and git checkout do, are
//     not overwritten: what they wrote is loaded, and the change made again.
//   - A new conversation appears in one step, complete. One that is removed
//     disappears in one step. Nothing of ours that is unfinished is ever visible
//     below conversations: temporaries lie in .jp/blobs/.tmp.
//   - What is wrong with one directory is a [Problem] beside the entries, and hides
//     none of the others. Directories that share an id are reported, not deleted.
//   - No path leads out of .jp or out of user-local storage: everything is opened through
//     [os.Root], and a link in the place of a conversation or of one of its files
//     is refused.
//   - Contents that a save put in the blob store are there when it returns.
//
// Two copies. The copy below .jp is read and written. A user-local one counts only
// where the workspace has none. After a save the file that was written is newer than
// its user-local copy, because jp trusts the newer one; the copy itself is left
// alone. Archiving and removing move both, since jp would bring back the other.
//
// User-local directories are jp's to create, merge and repoint. This package finds them, by the
// rules of jp, and makes one only when a user-local conversation is created and there is
// none. Sessions are kept in user-local storage, or, while there is none, in the user's data
// directory (git-jp/workspace/<id>/sessions), never below .jp.
//
// What it does not promise: a reader takes no lock and can see the files of a
// conversation from before and after a save; jp's own commands write without
// asking us; network file systems whose flock is not shared; that no moment is left for a program
// without the lock where the system cannot exchange two files in one step, see
// [atomicfile.Replace].
package workspace
