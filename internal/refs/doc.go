// Package refs caches facts about the files of conversations by their git object ids: the
// references of a stream, whether it can be read, which tool calls of its last turn are open, and
// whether a JSON document is well formed. For trees it caches the blobs below them, and for small
// files whether they are Git LFS pointers. For the two trees of the workspace that was checked last
// it records that no faults were found in them.
//
// All of that depends only on the bytes, which the object id identifies, so an answer never becomes
// outdated. Garbage collection, checking, staging and the hooks share one cache in
// <git-common-dir>/jp/cache.
//
// # What holds
//
// An answer from the cache equals the answer without it. The cache may be deleted, truncated, or
// damaged at any time, also while it is used, and may have been written by another version: every
// record carries a checksum over its key and its content, and a record that does not verify is
// computed again. Verdicts on broken files are remembered too, with their text and position.
//
// Any number of processes may use one cache without a lock. Records are appended by single writes
// to files opened with O_APPEND; a file is created or replaced by a rename, which can lose records
// that other processes append at that moment, and only costs time.
//
// Memory holds an index of about a hundred bytes per record, not the records. Disk usage is
// bounded: a file that exceeds its limit, or a megabyte and 30 days, is started anew, and stays as
// the generation before until the next one is. A record that is found there is written again, so
// what is used stays, and what old versions of conversations said does not. Whoever writes records
// removes files of other versions that have not been written for 30 days.
//
// # What is not promised
//
// Nothing is synced to disk, and only references, calls, errors and ids are stored: no content of a
// conversation. A remembered object need not exist any more. If the directory cannot be created or
// written, as in a read-only repository, the cache is kept in memory for this process, up to a
// limit, and no error is reported.
//
// # Format
//
// The directory holds 16 files, refs-<version>-<first hex digit of the id>, and those of the
// generation before, which end in .old. Each begins with a header line, followed by records:
//
//	mark   4 bytes   "\xffjp\n"; a reader that lost its place finds the next one
//	length 4 bytes   of the body, little endian
//	sum    4 bytes   CRC-32C of length and body
//	body             kind (1 byte), length of the id (1 byte), id, payload
//
// The payload is a sequence of varints, strings and hashes, see codec.go.
package refs
