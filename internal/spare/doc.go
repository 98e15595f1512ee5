// Package spare keeps a second copy of blobs that only a lazy clone has.
//
// The working tree of a lazy clone leaves blobs out, so git ignores new ones there: git clean -X
// treats them as build products, git stash -u and git worktree remove skip them, and after a reset
// only a reflog may name them. Their copies are in the repository, as <git-dir>/jp/spare and their
// paths in the working tree, until a remote has them.
//
// # What holds
//
//   - After [Keep] each blob that has a file has a copy, verified and durable, with the same bytes:
//     git compares these. A file that is not an intact blob is not copied, in either direction.
//   - A [Finder] finds what a conversation refers to in a copy, or in a commit where HEAD or a
//     remote was, and makes it a file again. Nothing else comes back: git refuses to merge or check
//     out over files where it expects none. Nor does what a commit has that lacks a redaction of
//     the working tree: it may be the redacted content, which only a repair can tell.
//   - A blob that is deleted on purpose has no copy that could restore it: the copy is removed
//     first.
//
// # What is not promised
//
// A copy of a blob that a killed command wrote: the next command makes it.
package spare
