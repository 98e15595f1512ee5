// Package stats adds up what conversations have cost, by the usage that is recorded in them.
//
// An answer is counted once, however many forks and copies of its conversation there are. What a
// provider charges is reckoned with the table of package models, answer by answer; one whose price
// is not known is counted apart and never guessed.
package stats
