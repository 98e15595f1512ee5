// Package command knows what a command line of a configuration does with what a model writes:
// where its placeholders stand, what its program makes of them, and which files of a workspace
// it runs. It starts nothing.
//
// # What it keeps true
//
// A placeholder of a shell's template becomes a positional parameter, so that no value is ever
// part of what the shell reads. Where a parameter would not stay one word of a simple command
// the template is refused, with the form that is safe.
//
// # What it does not promise
//
// The reader of shell templates knows less of the language than a shell: what it does not know
// it refuses. What a program does with its arguments is its own business; the tables here name
// the programs that are known to run them.
package command
