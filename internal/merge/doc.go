// Package merge merges the files of conversations for git, and keeps track of the conflicts that a
// person has to decide. The rules for merging a stream, metadata and base configuration are in
// package events/threeway (docs/merge.md); this package decides which bytes they get, where the
// configuration comes from, and which files are written when.
//
// The words. A driver is a command that git calls with three versions of one file. A record is a
// conflict that a driver left to a person; it is open as long as git's index has the path unmerged,
// or has exactly the bytes that the driver left, as after a plain git add.
//
// What it keeps true:
//
//   - A driver replaces our version only with a complete result, in one step. It always writes a
//     stream that loads, conflict or not.
//   - A conflict loses nothing of their side: the record has their complete stream.
//   - A record is closed by a decision that was staged, or found closed once git is done
//     with the path: by git merge --abort, by git checkout --theirs, by an edit.
//
// What it does not promise: that git calls a driver. Git runs none for octopus merges, without
// attributes that name one, or on hosting servers; [Merge.MergedFiles] finds the files that were
// merged without one.
package merge
