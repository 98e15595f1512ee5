// Package audit checks what a repository has, by revisions: one, the index, the commits of a range
// or of a push, all refs, and what a merge would come to.
//
// It puts together what package check finds in trees and what package merge finds in merges:
// textual merges, what was left out, conflicts that were added and not decided. In a shallow or
// partial clone, what cannot be seen is no finding.
//
// It changes nothing and prints nothing.
package audit
