// Package upkeep deletes, restores, repairs and migrates a workspace's data, for a person: it
// plans, prints the plan, asks if others will see the change, does it and prints what was done.
//
// It keeps one thing true: a dry run prints everything that the command would do, since it is the
// same code without its last step. Package [github.com/git-jp/git-jp/gc] knows what is dead, and
// [github.com/git-jp/git-jp/internal/repair] what is broken.
package upkeep
