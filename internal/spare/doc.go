// Package spare keeps a second copy of what only a lazy clone has.
//
// The working tree of a lazy clone leaves blobs out, so git ignores those that are new there: git
// clean -X takes them for build products, git stash -u and git worktree remove pass them over, and
// after a checkout nothing but a reflog may name them. Their copies lie in the repository, as
// <git-dir>/jp/spare has them under their paths in the working tree, until a remote has them.
//
// # What holds
//
//   - After [Keep] each blob of the store is in the working tree and has a copy, verified and
//     durable. What is no sound blob is not copied, either way.
//   - What is deleted on purpose has no copy that could bring it back: who deletes forgets it
//     first.
//
// # What is not promised
//
// A copy of what a command wrote that was killed: the next one makes it.
package spare
