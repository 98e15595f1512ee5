// Package search finds text in a conversation: in what was said, and in content
// that lies in blobs or in base64, where `git grep` cannot see it.
//
// A content is read only when its scope is searched. Content that cannot be read
// is reported beside the hits and never ends a search. Binary content is
// searched for nothing: it has no lines.
package search
