// Package commandline makes of the model of a command line what people read and type: the man page,
// the words that can stand next, and the scripts by which shells ask for these.
//
// It keeps one thing true: no command and no flag is missing from them, since they are made of the
// model that parses the command line. It knows no conversation: what the values of flags and
// arguments can be is asked of whoever calls it.
package commandline
