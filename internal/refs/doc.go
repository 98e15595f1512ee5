// Package refs remembers what a file of a conversation says, by its git object
// id: the references of a stream, whether it can be read, which tool calls of its
// last turn are open, and whether a JSON document is well formed. Of trees it remembers
// the blobs below them, and of small files whether they are Git LFS pointers. And of the two
// trees of a workspace that were looked at last it remembers that nothing was found in them.
//
// All of that depends on the bytes alone, and the object id names the bytes, so an
// answer never goes stale. Collecting, checking, staging and the hooks share one
// cache in <git-common-dir>/jp/cache.
//
// # What holds
//
// An answer from the cache equals the answer without it. The cache may be deleted,
// cut, or damaged at any time, also while it is used, and may have been written by
// another version: every record carries a checksum over its key and its content, and
// what does not verify is computed again. Verdicts on broken files are
// remembered too, with their text and position.
//
// Any number of processes may use one cache without a lock. Records are appended
// by single writes to files opened with O_APPEND; a file is created or replaced by a
// rename, which can lose what others appended in that moment, and costs only time.
//
// Memory holds an index of about a hundred bytes a record, not the records. Disk
// is bounded: a file that has grown over its limit is started anew.
//
// # What is not promised
//
// Nothing is synced to disk, and nothing but references, calls, errors and ids is
// stored: no content of a conversation. That an object is remembered does not say
// that it is still there. Where the directory cannot be created or written,
// as in a read-only repository, the cache lives in memory for this process, up
// to a limit, and nothing is reported.
//
// # Format
//
// The directory holds 16 files, refs-<version>-<first hex digit of the id>. Each
// starts with a header line that repeats the version. Then come records:
//
//	mark   4 bytes   "\xffjp\n"; a reader that lost its place finds the next one
//	length 4 bytes   of the body, little endian
//	sum    4 bytes   CRC-32C of length and body
//	body             kind (1 byte), length of the id (1 byte), id, payload
//
// The payload is a sequence of varints, strings and hashes, see codec.go.
package refs
