// Package hooks does the work of git's hooks; package hooks/install makes git run them.
//
// What it keeps true:
//
//   - A hook stops a commit or a push only for damage that it would do itself. A failure of our own
//     is reported and stops nothing, except on a server that receives, where warnings are not read.
//   - After a merge or a rebase nothing can be stopped any more. Certain fixes are made and staged,
//     and put into the commit if no one else can have it; the rest is reported.
//   - After a checkout nothing is written, because git would refuse the next one.
//   - What a workspace's settings turn off is off in that workspace and no other.
//   - Nothing waits: for a lock, a person or the network.
//
// What it does not promise: git runs no pre-commit for merges and rebases, and a hook manager may
// pass on less than git gave it. Whether a repository is complete is for a check of its trees to
// say.
package hooks
