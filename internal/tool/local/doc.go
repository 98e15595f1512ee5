// Package local has tools that are commands, as jp's configuration declares them.
//
// A command is a template: words with placeholders {{ … }} for parts of the call. It is split into
// words before values are inserted, so that a value from a model stays one word, whatever it
// contains. The program prints its outcome (as jp's documentation calls it), typed content blocks
// (RFD 058), or plain text. It may print a question instead, and is then run again with the answer.
//
// What it keeps true: a value from a model is never interpreted, neither as a template nor, if the
// command uses a shell, by the shell; a template reads no file; an undefined name is an error.
// Output is limited while it is read.
//
// What it does not promise: that templates which use more than names, filters and conditions of
// Jinja print numbers and null in the same way as minijinja.
package local
