// Package threeway merges the files of a conversation: the stream of its events, its details and
// its base configuration. It is pure: it reads no blob and no clock. docs/merge.md has the rules.
//
// A merge reads each version as a list of turns (read.go), matches the turns of the versions
// (tree.go), merges their events (turn.go, pair.go) and the elements that are not events
// (global.go, compaction.go, delta.go, config.go), and writes the result (write.go), which it
// verifies by counting (verify.go).
package threeway
