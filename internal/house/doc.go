// Package house tests the rules of this repository: which package may import which, which may start
// processes and open network connections, what is at the top level, and that packages and exported
// names have doc comments. A new package needs a row in the table of rooms_test.go, from which
// docs/rooms.md is written.
//
// The tests read the sources themselves. Asking the go command instead would hide a violation,
// because the test cache knows only of files that the test opened.
package house
