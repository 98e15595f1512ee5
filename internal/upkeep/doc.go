// Package upkeep deletes, restores, repairs and migrates what a workspace stores, for a person: it
// plans, prints the plan, asks where others will see the change, does it and prints what was done.
//
// It keeps one thing true: nothing is done that a dry run would not have printed, since a dry run
// is the same way without its last step. What is dead is [github.com/git-jp/git-jp/gc]'s to know,
// and what is broken [github.com/git-jp/git-jp/internal/repair]'s.
package upkeep
