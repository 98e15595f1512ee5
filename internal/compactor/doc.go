// Package compactor compacts a conversation for the user: by strategies into a fork or in place, by
// rules of the overlay, with pins; it undoes compactions, and prints their results, or those of a
// dry run.
//
// It keeps one thing true: nothing is lost. A fork does not change its source, a change in place
// needs the user's consent and quarantines the old conversation first, an overlay removes nothing,
// and a dry run writes nothing. Package [github.com/git-jp/git-jp/compact] implements strategies
// and rules, and [github.com/git-jp/git-jp/internal/prepare] opens what a compaction needs.
package compactor
