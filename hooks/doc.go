// Package hooks does the work of git's hooks; package hooks/install makes git run them.
//
// What it keeps true:
//
//   - A hook stops a commit or a push only for what that itself would break. A failure of our own
//     is told and stops nothing, but on a server that receives: nobody reads its warnings.
//   - After a merge or a rebase nothing can be stopped any more: what is certain is fixed and
//     staged, and put into the commit where nobody else may have it; the rest is said.
//   - After a checkout nothing is written, because git would refuse the next one.
//   - What a workspace's settings turn off is off in that workspace and no other.
//   - Nothing waits: for a lock, a person or the network.
//
// What it does not promise: git runs no pre-commit for merges and rebases, and a hook manager may
// hand on less than git said. Whether a repository is whole is for a check of its trees to say.
package hooks
