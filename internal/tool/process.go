package tool

import (
	"context"
	"io"
)

// A Starter starts processes for tools, servers and attachments. The implementation must check
// first that Declared was approved: no other code in this module does.
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
	// Declared is the command in the configuration, with its templates: approvals are bound to it.
	Declared Declaration
	// Program and Args are started.
	Program string
	Args    []string
	// Dir is the absolute path of the working directory.
	Dir string
	// Env is added to the environment from the Starter.
	Env []string
	// Variables are names of further variables of the user's environment to pass.
	Variables []string

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// A Declaration identifies a command for its approval.
type Declaration struct {
	// Purpose names for the user what needs the command: "tool cargo_test", "MCP server bookworm",
	// "attachment".
	Purpose string
	// Key is the dotted setting with the command: "conversation.tools.cargo_test.command".
	Key string
	// Line is a command in one line; otherwise Program and Args are set. Both are as written, with
	// templates.
	Line    string
	Program string
	Args    []string
	// Shell says that a shell interprets the command.
	Shell bool
	// Variables are the names of environment variables that are passed.
	Variables []string
	// Checksum is the checksum of the program's file, "" for none: "sha256:" or "sha1:" and digits.
	Checksum string
}

// Value returns the complete declaration as one text. Two declarations that start different
// commands have different values.
func (d Declaration) Value() string {
	if d.Line != "" && !d.Shell && len(d.Variables) == 0 && d.Checksum == "" {
		return d.Line
	}
	o := newObject()
	if d.Line != "" {
		o.add("line", quote(d.Line))
	} else {
		o.add("program", quote(d.Program))
		o.add("args", marshal(append([]string{}, d.Args...)))
	}
	if d.Shell {
		o.add("shell", marshal(true))
	}
	if len(d.Variables) > 0 {
		o.add("variables", marshal(d.Variables))
	}
	if d.Checksum != "" {
		o.add("checksum", quote(d.Checksum))
	}
	return string(o.end())
}
