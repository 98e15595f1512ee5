// Package gitlock takes and looks at git's locks, files beside those that they lock.
//
// What it keeps true:
//
//   - A lock excludes git, and git's locks exclude this program.
//   - A lock that a killed run of this program left is broken, and no other: whether the owner of
//     git's lock lives is unknown.
//   - No lock of this program is without its owner, at no moment.
package gitlock
