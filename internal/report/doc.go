// Package report tells a person how a command ended: the error, what can be done about it, the
// exit code.
//
//   - An error is `error: ` and a sentence without capital and period that says what was done, to
//     what, and why it did not work; then `hint: ` lines with the next command.
//   - The hints for errors of libraries stand here and nowhere else: a library does not know our
//     command line. What only a command can know, such as which flag it was given, it says itself
//     with an error that has a method Hints.
//   - For a finding of a check the hint is the command that mends it, see [Adviser]: it depends on
//     the clone and on where the user stands, and is left out where nobody can be sure of it.
//   - Text that came from conversations or file names is made harmless first.
//
// It prints nothing but errors, and decides nothing: what is told here has happened.
package report
