package git

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// ErrZeroByte reports an argument with a zero byte, which cannot be passed to a program.
var ErrZeroByte = errors.New("a name contains a zero byte")

// An ExitError reports that a git command failed.
type ExitError struct {
	// Args are the arguments of git.
	Args []string
	// Code is the exit code, -1 if git did not start or was killed.
	Code int
	// Stderr is git's standard error.
	Stderr string
	// Err is the error of the process.
	Err error
}

// Command returns the name of git's command.
func (e *ExitError) Command() string {
	for i := 0; i < len(e.Args); i++ {
		if e.Args[i] == "-c" {
			i++ // skip its value too
			continue
		}
		return e.Args[i]
	}
	return ""
}

// Error names the command and the line in which git reports the error.
func (e *ExitError) Error() string {
	msg := strings.TrimSpace("git " + e.Command())
	if line := lastLine(e.Stderr); line != "" {
		return msg + ": " + line
	}
	return fmt.Sprintf("%s: %v", msg, e.Err)
}

// Unwrap returns the error of the process.
func (e *ExitError) Unwrap() error { return e.Err }

// Missing reports whether there is no git to start.
func (e *ExitError) Missing() bool { return errors.Is(e.Err, exec.ErrNotFound) }

// Reason returns the line in which git reports the error, without what it says beside it, such as
// hints.
func (e *ExitError) Reason() string { return strings.TrimPrefix(lastLine(e.Stderr), "fatal: ") }

// A SaidError reports that git failed, where everything that it printed is shown as well: it does
// not repeat the reason.
type SaidError struct{ *ExitError }

// Error names the command and the exit code.
func (e *SaidError) Error() string {
	return fmt.Sprintf("git %s failed with exit code %d", e.Command(), e.Code)
}

// Unwrap returns the error of the process.
func (e *SaidError) Unwrap() error { return e.ExitError }

// sentNothing are the lines of git that do not say why a remote sent nothing.
var sentNothing = map[string]bool{
	"fatal: Could not read from remote repository.": true,
	"fatal: early EOF":                           true,
	"fatal: the remote end hung up unexpectedly": true,
}

// lastLine returns the line that reports the error. If the first line starts with "fatal:" or
// "error:", it is that one, and the following lines explain it. A line that ends in a colon needs
// them to be complete. If it says only that a remote sent nothing, the line before it says why.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	said := ""
	for i, l := range lines {
		switch {
		case !strings.HasPrefix(l, "fatal: ") && !strings.HasPrefix(l, "error: "):
			warns := strings.HasPrefix(strings.ToLower(l), "warning: ")
			if !warns && strings.TrimSpace(l) != "remote:" {
				said = l
			}
		case strings.HasSuffix(l, ":"):
			return strings.Join(strings.Fields(strings.Join(lines[i:], " ")), " ")
		case said != "" && sentNothing[l]:
			return said
		default:
			return l
		}
	}
	return lines[len(lines)-1]
}

// ExitCode returns the exit code of a failed git, 0 for any other error.
func ExitCode(err error) int {
	if ee, ok := errors.AsType[*ExitError](err); ok {
		return ee.Code
	}
	return 0
}
