// Package gitint is the one door to Git: the only package that starts git and
// the only one that reads its files.
//
// Words. A Repo is one repository seen from one working tree, or from none. An
// OID names an object. A Snapshot is a set of files that git holds: a Tree of
// some revision, or an Index. A Ref is a name for an object.
//
// What it keeps true:
//
//   - Git writes, we read. Objects, trees and the index are read in this process
//     where the repository has a shape that is proven to be read right; for every
//     other shape the same functions ask git. The caller sees no difference. A plain
//     repository, .git in the user's own working tree, is also found without git.
//   - Never a silent subset. An answer is whole, or it is an error, or the Repo
//     says by Incomplete what may be absent. An object is called missing only when
//     git says so too; in a partial clone, where git would fetch it, when its
//     directories do not have it.
//   - Every object that is read is hashed and compared with its name.
//   - Objects are read as they are stored: refs/replace is listed by Refs and
//     never followed, because what is pushed are the originals.
//   - Reading changes no file, takes no lock, runs no program of the user, and
//     does not use the network, also not for the promised objects of a partial
//     clone: [Repo.Bring] fetches those, many at once, and Clone, Fetch, Unfetched,
//     Merge, CommitMerge, CommitEmpty and Push are what else talks to a remote.
//   - The environment decides, as it does for git: GIT_DIR, GIT_INDEX_FILE,
//     GIT_OBJECT_DIRECTORY and the rest are honoured, so that hooks see what git
//     shows them. Paths given to a Repo are slash paths from the root of the work
//     tree, taken literally.
//
// What it does not promise: a view of one moment. Another process may change the
// repository between two calls. A Tree does not change, because its id fixes it;
// an Index is what was read when it was asked for.
//
// A Repo may be used by several goroutines at once.
package gitint
