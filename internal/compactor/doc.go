// Package compactor compacts a conversation for a person: by strategies into a fork or in place, by
// rules of the overlay, with pins; it takes compactions back, and prints what it did or would do.
//
// It keeps one thing true: nothing is lost. A fork leaves its source as it is, what changes in
// place is quarantined first and only after somebody agreed, an overlay removes nothing, and a dry
// run writes nothing. What a strategy or a rule does is [github.com/git-jp/git-jp/compact]'s, and
// what a compaction needs [github.com/git-jp/git-jp/internal/prepare]'s.
package compactor
