// Package local is tools that are commands, as jp's configuration declares them.
//
// A command is a template: words, in which {{ … }} stands for something of the call.
// It is split into words first and filled in afterwards, so that what a model writes is
// one word, whatever stands in it. The program prints its outcome (docs of jp call it
// so), typed content blocks (RFD 058), or plain text. It may ask a question instead, and
// is then run again with the answer.
//
// What it keeps true: nothing a model writes is interpreted, neither as a template nor,
// where a shell is asked for, by the shell; a template reads no file; what is not
// defined is an error. Output is bounded while it is read.
//
// What it does not promise: that templates which use more than names, filters and
// conditions of Jinja print numbers and nothing as minijinja does.
package local
