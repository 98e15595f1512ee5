// Package scripts runs scripts of testdata/script, and other tests of the whole program, with
// git-jp on PATH.
//
// It keeps one thing true: what a script sees depends on nothing but the script and the program,
// which is built of the sources that are there. Each package below it has the scripts of some
// commands, or tests that are about the program and no package: what people do to conversations
// together, what fails below it, what others want of it.
//
// It is for tests only and fails the test instead of returning errors.
package scripts
