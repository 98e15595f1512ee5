// Package blobs keeps content: bytes that conversations refer to by their SHA-256.
// It defines the words. Content is a sequence of bytes, perhaps empty. A [Hash] is
// its identity, a [Ref] its identity and size, a [Content] the bytes or a Ref to
// them, and a blob is content in a [Store], one gzip file named by the hash:
//
//	.jp/blobs/5a/9b/0e…(60 digits).blob.gz
//
// What it keeps true:
//
//   - Bytes that are returned without an error have the hash that was asked for.
//   - A file that is visible under a blob's name was written whole and synced before
//     it got the name. A killed process leaves at most a temporary in .jp/blobs/.tmp/.
//   - Writing what is there already keeps the file and sets its modification time,
//     by which a collector knows that somebody is about to refer to it. A damaged
//     file, or a Git LFS pointer, is replaced.
//   - Reading is bounded by the reference: a gzip bomb costs one byte more than what
//     the reference claims, and a reference that lies costs no memory up front.
//   - Equal content gives equal files ([Encode]), but the bytes of a file are nobody's
//     identity: any gzip file of the right content is as good.
//   - Nothing outside the store's parent directory is read or written, whatever
//     symbolic links a repository brings along; a link in the place of a blob file is
//     never followed.
//
// Any number of processes may read and write one store without locks. What it does
// not promise: deleting (package gc does, and says how writers and sweepers get
// along), network file systems without atomic rename, and the presence of content a
// reference names. Names of errors: [fs.ErrNotExist] for content that is not there,
// *[CorruptError], *[SizeError], *[PointerError] and *[LimitError] for the rest.
package blobs
