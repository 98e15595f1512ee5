// Package threeway merges the files of a conversation: the stream of its events, its details and
// its base configuration. It is pure: it reads no blob and no clock. docs/merge.md has the rules.
//
// A merge takes each version apart into turns (read.go), finds the turns that are one (tree.go),
// decides about the events in them (turn.go, pair.go) and about what is no event (global.go,
// compaction.go, delta.go, config.go), and puts the result together (write.go), which it then
// counts (verify.go).
package threeway
