// Package main writes what accompanies the programs of a release: a bill of
// materials in the form of CycloneDX, and the checksums of all files.
//
// Both are made of the programs themselves and of nothing else. Neither has a
// date or a random number: the same programs give the same bytes.
package main
