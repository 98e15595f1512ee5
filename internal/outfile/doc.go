// Package outfile writes answers to files that a user named.
//
// It keeps two things true: a failure leaves what the file had, and nothing is written among the
// files of git or of a workspace, by whatever links a name leads there.
package outfile
