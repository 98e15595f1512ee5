// Package mutants checks that the tests of gc, and the second opinion, find faults of the
// collector.
//
// It has tests only. They build gc and its tests with parts of gc's files replaced, and run the
// test binary in gc's directory. No source is changed.
package mutants
