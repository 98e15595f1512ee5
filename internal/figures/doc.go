// Package figures prints what conversations hold, what they have cost and what a compaction saves:
// tables, and charts of bars.
//
// It keeps one thing true: a figure that is an estimate is printed as one, and what has no known
// price is counted beside what has. It computes nothing: the figures are those of compact and
// stats.
package figures
