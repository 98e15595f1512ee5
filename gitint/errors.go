package gitint

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
)

var (
	// ErrNotRepository says that neither the directory nor one above it is in a
	// repository.
	ErrNotRepository = errors.New("not a git repository")
	// ErrUnknownRevision says that a revision names no object, or not one of the
	// kind that was asked for. The HEAD of a branch without a commit is one.
	ErrUnknownRevision = errors.New("unknown revision")
	// ErrZeroByte says that a name has a zero byte: no file, ref or commit has one, and no program
	// can be given it.
	ErrZeroByte = errors.New("a name has a zero byte")
)

// An ExitError is a git that did not do what it was asked to.
type ExitError struct {
	// Args are the arguments of git.
	Args []string
	// Code is the exit code, -1 when git did not start or did not end by itself.
	Code int
	// Stderr is what git wrote to its standard error.
	Stderr string
	// Err is the error of the process.
	Err error
}

// Error names the command and the line in which git says what went wrong. What else git was given
// is ours: formats and options that nobody typed. Who asked says what it was about, and
// [internal/trace] has all of it.
func (e *ExitError) Error() string {
	msg := "git"
	for i := 0; i < len(e.Args); i++ {
		if e.Args[i] == "-c" {
			i++ // and its value
			continue
		}
		msg += " " + e.Args[i]
		break
	}
	if line := lastLine(e.Stderr); line != "" {
		return msg + ": " + line
	}
	return fmt.Sprintf("%s: %v", msg, e.Err)
}

// Unwrap returns the error of the process.
func (e *ExitError) Unwrap() error { return e.Err }

// lastLine picks the line that says what went wrong. Git puts it first when it
// starts with "fatal:" or "error:", and explains it in the lines that follow. One that ends in
// a colon is not whole without them.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for i, l := range lines {
		switch {
		case !strings.HasPrefix(l, "fatal: ") && !strings.HasPrefix(l, "error: "):
		case strings.HasSuffix(l, ":"):
			return strings.Join(strings.Fields(strings.Join(lines[i:], " ")), " ")
		default:
			return l
		}
	}
	return lines[len(lines)-1]
}

// A notRepositoryError is [ErrNotRepository] in git's words, which may name a GIT_DIR. How git
// was asked helps nobody who is in the wrong directory.
type notRepositoryError struct{ exit *ExitError }

func (e *notRepositoryError) Error() string {
	return strings.TrimPrefix(lastLine(e.exit.Stderr), "fatal: ")
}

func (e *notRepositoryError) Unwrap() []error { return []error{ErrNotRepository, e.exit} }

// An UnsafeError says that git refuses a repository that belongs to somebody
// else (safe.directory), or that [Safe] refuses a workspace.
type UnsafeError struct {
	// Dir is the directory that git wants to be told is safe.
	Dir string
	Err error // git's; nil for a workspace in no repository
}

// Error names the directory.
func (e *UnsafeError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("workspace at %q belongs to another user", e.Dir)
	}
	return fmt.Sprintf("repository at %q belongs to another user", e.Dir)
}

// Unwrap returns the error of git.
func (e *UnsafeError) Unwrap() error { return e.Err }

// An EmbeddedError says that what git takes for a repository lies in the working tree of another
// one, whose author may have committed it: nothing is read from its configuration.
type EmbeddedError struct {
	Dir string // of the repository
	In  string // the working tree
}

// Error names both.
func (e *EmbeddedError) Error() string {
	return fmt.Sprintf("%q is a bare repository in the working tree %q", e.Dir, e.In)
}

// A MissingObjectError says that an object is not in the repository. It is an
// fs.ErrNotExist, except for a directory of a snapshot: that is there, and what it holds is
// unknown.
type MissingObjectError struct {
	OID OID
	// Promised is set in a partial clone, where the remote may have the object.
	Promised bool

	listed bool // a directory of a snapshot
}

// Error names the object.
func (e *MissingObjectError) Error() string {
	if e.Promised {
		return fmt.Sprintf("object %s is missing locally, in a partial clone", e.OID)
	}
	return fmt.Sprintf("object %s is missing", e.OID)
}

// Is makes the error an fs.ErrNotExist, see above.
func (e *MissingObjectError) Is(target error) bool {
	return target == fs.ErrNotExist && !e.listed
}

// A CorruptObjectError says that an object is there and cannot be what its name
// says.
type CorruptObjectError struct {
	OID    OID
	Reason string
	Err    error
}

// Error names the object and what is wrong with it.
func (e *CorruptObjectError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("object %s is corrupt: %s: %v", e.OID, e.Reason, e.Err)
	}
	return fmt.Sprintf("object %s is corrupt: %s", e.OID, e.Reason)
}

// Unwrap returns the cause, which may be nil.
func (e *CorruptObjectError) Unwrap() error { return e.Err }

// An ObjectSizeError says that an object is larger than the reader allows.
type ObjectSizeError struct {
	OID       OID
	Size, Max int64
}

// Error says both sizes: whoever reads a file names it.
func (e *ObjectSizeError) Error() string { return e.Unwrap().Error() }

// Unwrap is the error of a file of that size on disk.
func (e *ObjectSizeError) Unwrap() error { return &regular.SizeError{Size: e.Size, Max: e.Max} }

// Is lets the stores tell this error from others without its type.
func (e *ObjectSizeError) Is(target error) bool { return target == errTooLarge }
