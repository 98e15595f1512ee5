// Package ondemand reads the blobs of a lazy clone, whose working tree leaves them out, and
// conversations of other commits with theirs.
//
// # Words
//
// A blob is present if HEAD's tree or the index names it at its path; what the working tree has
// is the store's. It is here if git has its object, and promised if a remote has to give it.
//
// # What holds
//
//   - Presence costs trees and the index, no content and no request.
//   - What is missing is fetched in one request: all that was expected, when the first of it is
//     read. A request that failed is not repeated for what it was about. What other commits
//     have is fetched before it is read: their files together, then the contents.
//   - What is asked for are objects that a tree or the index of this repository names at the path
//     of a blob: never a name that a conversation says. The remote is that of git's own
//     configuration.
//   - Nothing that is fetched goes into the working tree.
//
// # What is not promised
//
// That a remote still has what it promised, and how long it takes to answer.
package ondemand
