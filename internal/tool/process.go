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
	// Purpose names for people who wants it: "tool cargo_test", "MCP server bookworm",
	// "attachment".
	Purpose string
	// Key is the setting that holds the command, dotted:
	// "conversation.tools.cargo_test.command".
	Key string
	// Line is the command when it stands in one line, else Program and Args are. Both
	// are as they were written, before templates are filled in.
	Line    string
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

// Value returns everything that was declared as one text: two declarations that do
// not start the same thing have different ones.
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
