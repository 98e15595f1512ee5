// Package compaction derives the parameters of a compaction from the configuration, the table of
// models and a conversation's record: its options, prices and windows, the model that summarizes,
// and jp's rules of the overlay.
//
// It requests nothing. It saves the result of a compaction, unless another program changed the
// conversation meanwhile. Package [github.com/git-jp/git-jp/compact] implements compactions; the
// caller selects the configuration.
package compaction
