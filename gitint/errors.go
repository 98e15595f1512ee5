package gitint

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
)

var (
	// ErrNotRepository reports that neither the directory nor one above it is in a repository.
	ErrNotRepository = errors.New("not a git repository")
	// ErrUnknownRevision reports that a revision names no object, or not one of the wanted kind.
	// The HEAD of a branch without a commit is one.
	ErrUnknownRevision = errors.New("unknown revision")
	// ErrZeroByte reports a name with a zero byte: no file, ref or commit has one, and it cannot be
	// passed to a program.
	ErrZeroByte = git.ErrZeroByte
)

// A ConfigError reports a value of git's configuration that this package does not know.
type ConfigError struct {
	Key, Value string
	Want       []string
	Scope      string // of [Setting]
}

// Error names the key and its values.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s of git's configuration is %q, not %s",
		e.Key, e.Value, strings.Join(e.Want, " or "))
}

// An ExitError reports that a git command failed.
type ExitError = git.ExitError

// A SaidError reports that git failed, where everything that it printed is shown as well: it does
// not repeat the reason.
type SaidError = git.SaidError

// A notRepositoryError is [ErrNotRepository] in git's words, which may name a GIT_DIR. It does not
// show the command, which would not help.
type notRepositoryError struct{ exit *ExitError }

func (e *notRepositoryError) Error() string { return e.exit.Reason() }

func (e *notRepositoryError) Unwrap() []error { return []error{ErrNotRepository, e.exit} }

// An UnsafeError reports that git refuses a repository that belongs to another user
// (safe.directory), or that [Safe] refuses a workspace.
type UnsafeError struct {
	// Dir is the directory to add to safe.directory.
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

// An EmbeddedError reports that a bare repository is in the working tree of another one, whose
// author may have committed it: its configuration is not read.
type EmbeddedError struct {
	Dir string // of the repository
	In  string // the working tree
}

// Error names both.
func (e *EmbeddedError) Error() string {
	return fmt.Sprintf("%q is a bare repository in the working tree %q", e.Dir, e.In)
}

// A MissingObjectError reports that an object is not in the repository. It is an fs.ErrNotExist,
// except for a directory of a snapshot: that exists, and its content is unknown.
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
