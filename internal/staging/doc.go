// Package staging shows which conversations of a workspace are staged, what a stage would add, and
// what is incomplete, for people and programs.
//
// It keeps one thing true: looking changes nothing, not even the index's own bookkeeping, and a dry
// run prints the plan that a stage carries out. Package [github.com/git-jp/git-jp/internal/stage]
// knows what belongs to a conversation.
package staging
