// Package merge merges the files of conversations for git, and keeps account of what a
// person has to decide. The rules for a stream, metadata and base configuration are those of
// package events (docs/merge.md); here is what surrounds them: which bytes go in, where the
// configuration comes from, what is written when.
//
// The words. A driver is what git calls with three versions of one file. A record is a
// conflict that a driver left to a person; it is open as long as git's index has the path
// unmerged, or has the very bytes that the driver left, which is what a bare git add does.
//
// What it keeps true:
//
//   - A driver changes our version when it has the whole result, in one step, and else not
//     at all. What it writes is a stream that loads, conflict or not.
//   - Nothing of their side is lost by a conflict: the record has their whole stream.
//   - A record is closed by a decision that was staged, or found closed when git is done
//     with the path: by git merge --abort, by git checkout --theirs, by an edit.
//
// What it does not promise: that git asks. It runs no driver for octopus merges, where the
// attributes do not name one, nor on servers of others; [Merge.MergedFiles] finds what was merged
// without.
package merge
