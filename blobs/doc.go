// Package blobs stores content: bytes that conversations refer to by their SHA-256. It uses these
// terms: Content is a sequence of bytes, perhaps empty. A [Hash] identifies it, a [Ref] is its hash
// and size, a [Content] is the bytes or a Ref to them, and a blob is content in a [Store], one gzip
// file named by the hash:
//
//	.jp/blobs/5a/9b/0e…(60 digits).blob.gz
//
// What it keeps true:
//
//   - Bytes that are returned without an error have the requested hash.
//   - A file that is visible under a blob's name was completely written and synced
//     before it got the name. A killed process leaves at most a temporary file in
//     .jp/blobs/.tmp/.
//   - Writing a blob that exists keeps the file and updates its modification time,
//     which tells garbage collection that a reference to it may follow. A damaged
//     file or a Git LFS pointer is replaced.
//   - Reading is bounded by the reference: a gzip bomb costs one byte more than the
//     size in the reference, and a reference with a wrong size costs no memory up front.
//   - Equal content gives equal files ([Encode]), but the bytes of a file are not an
//     identity: any gzip file of the right content is as good.
//   - Nothing outside the store's parent directory is read or written, whatever
//     symbolic links a repository contains; a link in place of a blob file is never
//     followed.
//
// Any number of processes may read and write one store without locks. What it does not promise:
// deleting (see package gc, also for its coordination with writers), network file systems without
// atomic rename, and that the content of a reference exists. Errors are [fs.ErrNotExist] for
// content that does not exist, and *[CorruptError], *[SizeError], *[PointerError] and
// *[LimitError].
package blobs
