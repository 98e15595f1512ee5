// Package approval lists the claims of a workspace that need an approval or have one, and asks for,
// gives and revokes approvals.
//
// It keeps two things true: every claim is in the list, whatever the output format, and no value is
// cut; and without a terminal, only claims that are named by their ids are approved. Package
// [github.com/git-jp/git-jp/internal/trust] decides what needs an approval, and when one is valid.
package approval
