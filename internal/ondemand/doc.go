// Package ondemand reads the blobs of a lazy clone, whose working tree leaves them out, and
// conversations of other commits with theirs.
//
// # Words
//
// A blob is present if HEAD's tree or the index names it at its path, or a Finder of
// internal/spare finds it; the store has the blobs of
// the working tree. It is here if git has its object, and promised if a remote has to send it.
//
// # What holds
//
//   - Presence costs trees and the index, no content and no request.
//   - Missing blobs are fetched in one request: all that were expected, when the first of them is
//     read. A failed request is not repeated for the same blobs. Data of other commits is fetched
//     before it is read: first their files together, then the contents.
//   - Only objects that a tree or the index of this repository names at the path of a blob are
//     requested: never a name from a conversation. The remote is that of git's own configuration.
//   - Nothing that is fetched goes into the working tree. What a reset left unnamed may.
//
// # What is not promised
//
// That a remote still has what it promised, and how long it takes to answer.
package ondemand
