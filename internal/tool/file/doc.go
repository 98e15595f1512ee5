// Package file names, reads and writes the files of a workspace for tools and
// attachments. It is the one place where URIs of files are made canonical.
//
// What it keeps true:
//
//   - One file has one URI, whatever path, link or spelling led to it, and two files
//     never share one. A file below the root of the workspace is named from
//     $WORKSPACE, so that the name means the same in another clone; docs/format.md
//     has the rules.
//   - Nothing is read or written outside the workspace, also not through links, and
//     nothing in a directory of git or of jp, however its name is spelled.
//   - A file that is replaced is the old or the new one, whole, at any moment.
//
// Words. A Space knows the names, a Tree also gives access. A path is a path of the
// operating system, absolute or from the root; a rel is a slash path from the root
// without links.
//
// What it does not promise: that case-insensitive or normalising file systems give one
// name for two spellings (case is kept); that another process that swaps directories
// for links in the same instant is noticed before it is refused by the operating
// system; that hard links out of the workspace are seen.
package file
