// Package main writes the files that accompany the programs of a release: a bill of materials in
// the form of CycloneDX, and the checksums of all files.
//
// Both are generated from the programs alone. Neither has a date or a random number: the same
// programs give the same bytes.
package main
