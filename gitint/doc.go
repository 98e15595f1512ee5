// Package gitint is the only package that starts git and the only one that reads its files. The
// packages below it each have one part of that, which only this one puts together.
//
// Words. A Repo is one repository seen from one working tree, or from none. An OID names an object.
// A Snapshot is a set of files in git: a Tree of some revision, or an Index. A Ref is a name for an
// object.
//
// What it keeps true:
//
//   - Git writes, this package reads. It reads objects, trees and the index in this process if the
//     repository has a shape that is tested to be read correctly; for every other shape the same
//     functions ask git. The caller sees no difference. A plain repository, .git in the user's own
//     working tree, is also found without git.
//   - Never a silent subset. An answer is complete, or it is an error, or Repo.Incomplete lists
//     what may be missing. An object is reported missing only if git says so too; in a partial
//     clone, where git would fetch it, if its directories lack it.
//   - Every object that is read is hashed and compared with its name.
//   - Objects are read as they are stored: Refs lists refs/replace, but no read follows it, because
//     a push sends the originals.
//   - Reading changes no file, takes no lock, runs no program of the user, and does not use the
//     network, not even for the promised objects of a partial clone: only [Repo.Bring], which
//     fetches many of those at once, and Clone, Fetch, Unfetched, Merge, CommitMerge, CommitEmpty
//     and Push talk to a remote.
//   - The environment decides, as it does for git: GIT_DIR, GIT_INDEX_FILE, GIT_OBJECT_DIRECTORY
//     and the rest are honoured, so that hooks see what git shows them. Paths given to a Repo are
//     slash paths from the root of the working tree, taken literally.
//
// What it does not promise: a consistent view over time. Another process may change the repository
// between two calls. A Tree does not change, because its id fixes it; an Index is a copy of what
// was read.
//
// A Repo is safe for concurrent use.
package gitint
