// Package audit checks the revisions of a repository: a single one, the index, the commits of a
// range or of a push, all refs, and the result of a merge that was not made.
//
// It combines the findings of package check in trees and of package merge in merges: textual
// merges, losses, and conflicts that were added but not decided. In a shallow or partial clone,
// objects that are not here are not a finding.
//
// It changes nothing and prints nothing.
package audit
