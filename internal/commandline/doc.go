// Package commandline generates from the model of a command line the man page, the words that can
// come next, and the scripts by which shells ask for these.
//
// It keeps one thing true: no command and no flag is missing from them, since they are generated
// from the model that parses the command line. It knows no conversation: it asks its caller for the
// possible values of flags and arguments.
package commandline
