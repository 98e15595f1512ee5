package tool

import (
	"context"
	"io"
)

// A Starter starts processes for tools, servers and attachments. Whoever calls it has read the
// command through a gate, which knows what was approved: it asks nobody.
type Starter interface {
	// Start returns once the process runs. When ctx ends, the process and all its descendants are
	// ended.
	Start(ctx context.Context, c Command) (Process, error)
}

// A Process is a running process.
type Process interface {
	// Wait returns after the process has ended and its output was copied. For an exit code other
	// than 0, the error is an *[ExitError].
	Wait() error
}

// An ExitError is the exit code of a process, -1 if it was ended by a signal.
type ExitError struct {
	Code   int
	Detail string
}

// Error implements error.
func (e *ExitError) Error() string { return e.Detail }

// A Command is a process to start.
type Command struct {
	Program string
	Args    []string
	// Checksum is the checksum of the program's file, "" for none: "sha256:" or "sha1:" and digits.
	Checksum string
	// Dir is the absolute path of the working directory.
	Dir string
	// Variables are names of further variables of the user's environment to pass.
	Variables []string

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}
