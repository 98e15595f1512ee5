// Package odb reads the directories of objects of a repository with SHA-1: packs, files of single
// objects, and alternates.
//
// What it keeps true:
//
//   - It opens files for reading only, and starts no process.
//   - The size of an object is known before it is decompressed, also those of the bases of deltas.
//     One of more than 4 MiB is left to git.
//   - Every object that is returned was hashed and compared with its name.
//   - An object is reported missing only if the directories were searched again after any change of
//     their packs. Every other error means that git may know more.
//
// A DB is safe for concurrent use. Memory for indexes of packs and bases of deltas is bounded;
// packs with larger indexes are left to git.
package odb
