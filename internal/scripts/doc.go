// Package scripts runs scripts of testdata/script, and other tests of the whole program, with
// git-jp on PATH.
//
// It keeps one thing true: what a script sees depends on nothing but the script and the program,
// which is built from the present sources. Each package below it has the scripts of some commands,
// or tests that concern the whole program and no single package: combined work on conversations,
// faults of the system, requests of other programs.
//
// It is for tests only and fails the test instead of returning errors.
package scripts
