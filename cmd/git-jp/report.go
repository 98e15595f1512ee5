package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// How the program speaks:
//
//   - Answers go to standard output, everything else to standard error.
//   - An error is `error: ` and a sentence without capital and period that says
//     what was done, to what, and why it did not work; then `hint: ` lines with
//     the next command. Only this file makes hints and exit codes.
//   - Text that came from conversations or file names is made harmless first.

// Exit codes. The table stands in the man page too.
const (
	exitDone        = 0
	exitProblems    = 1 // problems found, or failed
	exitConflict    = 2 // a person has to decide
	exitUsage       = 129
	exitInterrupted = 130
)

// errProblems says that the command has already printed what is wrong.
var errProblems = errors.New("problems found")

// report prints err and returns the exit code.
func (a *app) report(err error) int {
	return reportError(a.stderr, err)
}

func reportError(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "interrupted")
		return exitInterrupted
	case errors.Is(err, errProblems):
		return exitProblems
	}
	fmt.Fprintf(stderr, "error: %s\n", printable(err.Error()))
	for _, hint := range hints(err) {
		fmt.Fprintf(stderr, "hint: %s\n", hint)
	}
	if usage := new(usageError); errors.As(err, &usage) {
		return exitUsage
	}
	return exitProblems
}

// hints returns what the user can do about err, most helpful first.
func hints(err error) []string {
	if usage := new(usageError); errors.As(err, &usage) {
		return []string{"'git jp -h' lists the commands, 'git jp <command> -h' explains one"}
	}
	return nil
}

// printable makes control characters visible, but for the ends of lines: an error
// may quote a path or a title that somebody else chose.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || (r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f)) {
			return r
		}
		return '\ufffd'
	}, s)
}
