// Package index reads git's index in the forms that git writes: all versions, also split, with the
// trees that git knows of it.
//
// What it keeps true:
//
//   - Every index is verified, which git does not do: it may read a truncated one as empty, or with
//     other entries. The checksum matches, and entries and extensions fill the file exactly, which
//     is the only check of an index without a checksum.
//   - If it is not certain that the entries are those that git would see, [File.Entries] says so.
//   - Memory grows with the entries that are wanted, not with the index.
package index
