// Package file names, reads and writes the files of a workspace for tools and attachments. It is
// the only package that makes URIs of files canonical.
//
// What it keeps true:
//
//   - One file has one URI, whatever path, link or spelling led to it, and two files never share
//     one. The URI of a file below the root of the workspace begins with $WORKSPACE, so that it
//     means the same in another clone; docs/format.md has the rules.
//   - No file outside the workspace is read or written, not even through links, and none in a
//     directory of git or of jp, however its name is spelled.
//   - A file that is replaced is complete at any moment, either the old or the new one.
//
// Words. A Space names files, a Tree also gives access. A path is a path of the operating system,
// absolute or relative to the root; a rel is a slash path relative to the root without links.
//
// What it does not promise: that two spellings on a case-insensitive or normalising file system
// have one URI (case is kept); that it notices another process that replaces a directory by a link
// at the same moment before the operating system refuses the access; that it detects hard links to
// files outside the workspace.
package file
