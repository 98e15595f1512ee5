// Package approval lists what waits for an approval in a workspace and what was approved, and
// gives, asks about and revokes approvals.
//
// It keeps two things true: every claim is in the list, whoever reads it, and no value is cut; and
// without a terminal nothing is approved that was not named by its id. What needs an approval, and
// when one holds, is [github.com/git-jp/git-jp/internal/trust]'s business.
package approval
