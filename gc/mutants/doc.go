// Package mutants holds that the tests of gc, and the second opinion, find faults of the collector.
//
// It has tests only. They build gc and its tests with texts of gc's files replaced, and run what
// they have built in gc's directory. No source is changed.
package mutants
