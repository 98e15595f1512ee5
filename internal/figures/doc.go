// Package figures prints the size and cost of conversations and the savings of a compaction:
// tables, and bar charts.
//
// It keeps one thing true: an estimate is printed as an estimate, and items without a known price
// are counted beside those with one. It computes nothing: the figures come from compact and stats.
package figures
