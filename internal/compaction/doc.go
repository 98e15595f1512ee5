// Package compaction says what the configuration, the table of models and a conversation's record
// say of a compaction: its options, prices and windows, who summarizes, and jp's rules of the
// overlay.
//
// It reads what it is given and asks nobody, and saves what came of a compaction unless somebody
// changed the conversation meanwhile. What a compaction does is
// [github.com/git-jp/git-jp/compact]'s, and which configuration counts its caller's to know.
package compaction
