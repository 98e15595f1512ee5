// Package recheck gives a second opinion before content is deleted.
//
// Package gc finds out what nothing can need by decoding streams, reading git's files, comparing
// trees and remembering what it has read. A fault in any of that would delete content. This
// package asks the same question again in the simplest way that is complete: it asks git's own
// plumbing what there is, and searches the text of everything that could refer to content for
// the hashes that are about to go. One git reads all objects for it. It shares no code with gc,
// neither that which reads repositories and workspaces nor any cache; of a blob it knows only where
// its file lies.
//
// What it keeps true:
//
//   - [Opinion.Referred] reports each hash that stands in a file of a directory .jp of any
//     working tree, or of a user-local copy of one, of any stage of any index, or of the tree
//     of any ref, HEAD, pseudo-ref, stash entry or operation in progress; also in streams
//     elsewhere in such trees, in the files of such operations, in the quarantine, and in what
//     a ref names directly. A commit that only tags name may have a hash when it has the blob too.
//   - [Opinion.Uncarried] reports each hash that stands so in any commit that refs, reflogs,
//     HEADs and pseudo-refs lead to, and whose blob is not beside it there.
//   - What cannot be read is an error, never an absence. Every object is hashed and compared
//     with its name. Nothing is written, and git takes no optional locks.
//   - The time is proportional to the text and the trees that are read, each once, and the memory
//     to the number of trees: files are searched as they come.
//
// What it does not promise: to see a hash that is not written in hexadecimal digits, such as one
// within an encoded mail, a compressed file or the escapes of a JSON string; objects that no
// name leads to; and what lies below the directories named by two digits in a store, which
// hold blobs. It takes the digits for a reference wherever they stand, so it may keep what
// somebody only talked about.
package recheck
