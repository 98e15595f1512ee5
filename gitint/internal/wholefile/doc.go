// Package wholefile reads files that git may be writing at the moment.
//
// What it keeps true: the beginning of a file is never taken for the complete file, because the rest
// may be the only name of something.
package wholefile
