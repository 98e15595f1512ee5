// Package command analyses command lines of a configuration into which values from a model are
// inserted: where the placeholders are, what the program does with them, and which files of a
// workspace it runs. It starts no process.
//
// # What it keeps true
//
// A placeholder in a shell template becomes a positional parameter, so that no value is ever part
// of the script that the shell parses. If a parameter would not stay one word of a simple command,
// the template is refused, with a hint at the safe form.
//
// # What it does not promise
//
// The parser for shell templates knows less of the language than a shell, and refuses what it does
// not know. What a program does with its arguments is not analysed; the tables here name the
// programs that are known to run them.
package command
