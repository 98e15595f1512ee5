// Package resolve decides what a merge left to a person: it asks, remembers the answers, stages
// what came of them, and looks back at what a merge of the past left out.
//
// It is git jp resolve without the command line. What there is to decide and how a decision is
// written is [github.com/git-jp/git-jp/internal/merge]'s.
package resolve
