// Package resolve resolves the conflicts that a merge left to a person: it asks, remembers the
// answers, stages the results, and reviews the losses of an earlier merge.
//
// It is git jp resolve without the command line. Package [github.com/git-jp/git-jp/internal/merge]
// finds what there is to decide and writes the decisions.
package resolve
