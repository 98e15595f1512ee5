// Package recheck gives a second opinion before content is deleted.
//
// Package gc finds unreachable content by decoding streams, reading git's files, comparing trees
// Package gc finds unreachable content by decoding streams, reading git's files, comparing trees
// and caching what it has read. A fault in any of that would delete content. This package asks the
// same question again in the simplest complete way: it asks git's own plumbing which objects and
// names exist, and searches the text of everything that could refer to content for the hashes that
// are about to be deleted. One git process reads all objects. It shares no code with gc, neither
// the code that reads repositories and workspaces nor any cache; of a blob it knows only the path
// of its file.
//
// What it keeps true:
//
//   - [Opinion.Referred] reports each hash in a file of a directory .jp of any working tree, in a
//     user-local copy of one, in any stage of any index, and in the tree of any ref, HEAD,
//     pseudo-ref, stash entry or operation in progress. It also reports hashes in streams elsewhere
//     in such trees, in the files of such operations, in the quarantine, and in objects that a ref
//     names directly. A hash in a commit that only tags name is ignored if the commit has the blob
//     too.
//   - [Opinion.Uncarried] also reports each hash in a commit reachable from refs, reflogs, HEADs
//     and pseudo-refs if that commit lacks the blob.
//   - Anything unreadable is an error, never an absence. Every object is hashed and compared with
//     its name. Nothing is written, and git takes no optional locks.
//   - The time is proportional to the text and the trees that are read, each once, and the memory
//     to the number of trees: files are searched as a stream.
//
// What it does not promise: to find a hash that is not written in hexadecimal digits, such as one
// within an encoded mail, a compressed file or the escapes of a JSON string; unreachable objects;
// and files in the fan-out directories of a store (two digits), which hold blobs. It takes the
// digits for a reference wherever they occur, so it may keep content that a conversation only
// mentions.
package recheck
