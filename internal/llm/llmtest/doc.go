// Package llmtest holds what tests of adapters share: a loopback server that answers from a
// script or from recorded exchanges, whole or cut into odd chunks; a reader of streams that
// fails on a delta out of order; a player that holds an adapter against recordings; and
// [Conform], what every adapter must do with answers that go wrong.
//
// Nothing here leaves the machine. The adapters under test are the real ones, with the real
// client of package llm.
package llmtest
