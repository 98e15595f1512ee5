// Package staging shows what of a workspace's conversations is staged, what a stage would take, and
// what is incomplete, as people and programs read it.
//
// It keeps one thing true: to look changes nothing, not even the index's own bookkeeping, and what
// a dry run prints is the plan that a stage carries out. What belongs to a conversation is
// [github.com/git-jp/git-jp/internal/stage]'s to know.
package staging
