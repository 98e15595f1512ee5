// Package report reports to a person how a command ended: the error, what can be done about it, the
// exit code.
//
//   - An error is `error: ` and a sentence without capital and period that says what was done, to
//     what, and why it did not work; then `hint: ` lines with the next command.
//   - The hints for errors of libraries are here and nowhere else: a library does not know our
//     command line. If only a command can know the hint, for example which flag it was given, its
//     error has a method Hints.
//   - For a finding of a check the hint is the command that fixes it, see [Adviser]: it depends on
//     the clone and on the user's directory, and is left out unless it is certain.
//   - Text from conversations or file names is escaped first.
//
// It prints nothing but errors, and decides nothing: it reports what has happened.
package report
