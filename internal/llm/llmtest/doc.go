// Package llmtest has helpers for tests of adapters: a loopback server with scripted or recorded
// replies, in one piece or in odd chunks; a reader of streams that fails on a delta out of order; a
// player that compares an adapter with recordings; and [Conform], which checks what every adapter
// must do with answers that go wrong.
//
// It does not use the network. The adapters under test are the real ones, with the real client of
// package llm.
package llmtest
