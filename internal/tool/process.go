package tool

import (
	"context"
	"io"
)

// A Starter starts processes for tools, servers and attachments. Whoever implements it
// asks first whether Declared was approved: nothing in this module does.
type Starter interface {
	// Start returns once the process runs. When ctx is done, the process and all that
	// it started are ended.
	Start(ctx context.Context, c Command) (Process, error)
}

// A Process is one that runs.
type Process interface {
	// Wait returns when the process has ended and its output is written. The error of
	// one that ends with a code other than 0 is an *[ExitError].
	Wait() error
}

// An ExitError says with which code a process ended, -1 when a signal ended it.
type ExitError struct {
	Code   int
	Detail string
}

// Error says how the process ended.
func (e *ExitError) Error() string { return e.Detail }

// A Command is a process to start.
type Command struct {
	// Declared is the command as the configuration has it, templates not filled in:
	// what an approval is bound to.
	Declared Declaration
	// Program and Args are what is to be started.
	Program string
	Args    []string
	// Dir is the absolute directory in which it starts.
	Dir string
	// Env is added to the environment that the Starter gives.
	Env []string
	// Variables are names of further variables of the user's environment to give.
	Variables []string

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// A Declaration is what an approval is about.
type Declaration struct {
	// Purpose names who wants it: "tool cargo_test", "MCP server bookworm",
	// "attachment".
	Purpose string
	// Program and Args are the command before templates are filled in.
	Program string
	Args    []string
	// Shell says that a shell interprets the command.
	Shell bool
	// Variables are the names of environment variables that it is given.
	Variables []string
	// Checksum is what the program's file must have, "" when nothing is said:
	// "sha256:" or "sha1:" and digits.
	Checksum string
}
