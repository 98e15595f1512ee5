// Package search finds text in a conversation: in messages, and in content that is stored in blobs
// or in base64, which `git grep` does not see.
//
// A blob is read only if its scope is searched. Content that cannot be read is reported beside the
// hits and does not end the search. Binary content is not searched, since it has no lines.
package search
