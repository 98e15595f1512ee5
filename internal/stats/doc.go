// Package stats adds up what conversations have cost, by the usage that is recorded in them.
//
// An answer is counted once, however many forks and copies of its conversation there are. Prices
// come from the table of package models, answer by answer; an answer whose price is not known is
// counted separately and never guessed.
package stats
