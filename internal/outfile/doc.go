// Package outfile writes output to files that a user named.
//
// It keeps two things true: a failure leaves the old content of the file, and nothing is written
// among the files of git or of a workspace, through whatever links.
package outfile
