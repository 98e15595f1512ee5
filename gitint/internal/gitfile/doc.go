// Package gitfile reads files that git may be changing at the moment.
//
// What it keeps true: the beginning of a file is never taken for the complete file, because the
// rest may be the only name of something; and a file that is removed meanwhile is no error.
package gitfile
