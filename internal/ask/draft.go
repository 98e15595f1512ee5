package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/regular"
)

// A Draft is a temporary file for the editor. The editor never gets the conversation itself: jp
// would treat a half-edited file as trash.
type Draft struct {
	path     string
	original []byte
}

// NewDraft creates a draft with a file name that shows its type to the editor.
func NewDraft(name string, data []byte) (*Draft, error) {
	dir, err := os.MkdirTemp("", "git-jp-edit-")
	if err != nil {
		return nil, fmt.Errorf("make a file for the editor: %w", err)
	}
	d := &Draft{path: filepath.Join(dir, name), original: data}
	return d, os.WriteFile(d.path, data, 0o600)
}

// Remove removes the draft.
func (d *Draft) Remove() error { return os.RemoveAll(filepath.Dir(d.path)) }

// Keep leaves the draft to the user if it has changes, and then returns a *[DraftError]. Otherwise
// it removes the draft.
func (d *Draft) Keep(err error) error {
	now, readErr := regular.ReadFile(d.path, regular.MaxOwn)
	if readErr != nil || bytes.Equal(now, d.original) {
		return errors.Join(err, d.Remove())
	}
	return &DraftError{Err: err, Path: d.path}
}

// A DraftError says why an edit was not saved. Path is the draft with the edit.
type DraftError struct {
	Err  error
	Path string
}

// Error implements error.
func (e *DraftError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *DraftError) Unwrap() error { return e.Err }

// ErrNotSaved says that the user left the editor without saving a change.
var ErrNotSaved = errors.New("the editor was left without saving a change")

// An Editor runs the user's editor on drafts.
type Editor struct {
	Command func(context.Context) (string, error) // a command for the shell
	Env     []string
	Dir     string
	// In, Out and Err are the standard streams for the editor.
	In         io.Reader
	Out, Err   io.Writer
	Device     func() (io.ReadWriteCloser, error) // nil if the standard streams are the terminal
	Interrupts *Interrupts
}

// Edit runs the editor on a draft and returns the saved text. If the editor fails, or the file is
// unchanged or empty, the user has decided nothing: Edit then returns an error, which is
// [ErrNotSaved] if the editor succeeded, and the caller must not proceed as if the user had agreed.
func (e *Editor) Edit(ctx context.Context, d *Draft) ([]byte, error) {
	if e.Device != nil {
		if tty, err := e.Device(); err == nil {
			defer func() { _ = tty.Close() }()
			return e.on(ctx, d, func(cmd *exec.Cmd) {
				cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
			})
		}
	}
	return e.on(ctx, d, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	})
}

// on runs the editor on the given streams.
func (e *Editor) on(ctx context.Context, d *Draft, streams func(*exec.Cmd)) ([]byte, error) {
	editor, err := e.Command(ctx)
	if err != nil {
		return nil, err
	}
	// Like git: a shell command with the file as its argument. The shell and this program ignore
	// interrupts, since Ctrl-C may be an ordinary key in the editor.
	cmd := exec.CommandContext(ctx, "sh", "-c", "trap : INT\n"+editor+` "$@"`, editor, d.path)
	streams(cmd)
	cmd.Env, cmd.Dir = e.Env, e.Dir
	defer e.Interrupts.Take(func() bool { return true })()
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run the editor %q: %w", editor, err)
	}
	after, err := regular.ReadFile(d.path, regular.MaxOwn)
	after = written(after, d.original)
	if err == nil && (bytes.Equal(after, d.original) || len(bytes.TrimSpace(after)) == 0) {
		err = ErrNotSaved
	}
	return after, err
}

// written returns what the user wrote: without ends of lines of Windows and a byte order mark that
// the editor added by itself.
func written(after, original []byte) []byte {
	if crlf := []byte("\r\n"); !bytes.Contains(original, crlf) {
		after = bytes.ReplaceAll(after, crlf, []byte("\n"))
	}
	if mark := []byte("\uFEFF"); !bytes.HasPrefix(original, mark) {
		after = bytes.TrimPrefix(after, mark)
	}
	return after
}
