// Package trace is the log that GIT_JP_TRACE turns on: which git commands ran, how long they took
// and how they ended, and whatever else helps to see why something is slow.
//
// Every event is exactly one line: control characters are escaped, so that a file name cannot forge
// an event or reach a terminal. The log is for arguments, names, counts and durations; callers
// never pass it the content of a conversation, of a blob or of an object, and long values are cut.
// Errors of writing are ignored, because a trace must not change what the program does. The package
// reads no environment and no clock.
package trace
