// Package object has the words for git's objects that need no repository: their names, their kinds,
// and how trees, commits and tags are encoded.
//
// What it keeps true:
//
//   - It reads no file and starts no process: its functions get bytes.
//   - An ID of all zeroes, which git writes for no object, is the zero value.
//   - A name is that of a content only if [Object.Verify] says so.
//   - A [TreeData] has only complete lines: it was read to its end when it was made.
package object
