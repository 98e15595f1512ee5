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

// A Draft is a file where the editor may write: never in the conversation itself, where a
// half-edited file would be trash for jp.
type Draft struct {
	path     string
	original []byte
}

// NewDraft makes a draft with a name that tells the editor what it is.
func NewDraft(name string, data []byte) (*Draft, error) {
	dir, err := os.MkdirTemp("", "git-jp-edit-")
	if err != nil {
		return nil, err
	}
	d := &Draft{path: filepath.Join(dir, name), original: data}
	return d, os.WriteFile(d.path, data, 0o600)
}

// Remove removes the draft.
func (d *Draft) Remove() error { return os.RemoveAll(filepath.Dir(d.path)) }

// Keep leaves the draft to the user, if there is anything of theirs in it. Then the error is a
// *[DraftError].
func (d *Draft) Keep(err error) error {
	now, readErr := regular.ReadFile(d.path, regular.MaxOwn)
	if readErr != nil || bytes.Equal(now, d.original) {
		return errors.Join(err, d.Remove())
	}
	return &DraftError{Err: err, Path: d.path}
}

// A DraftError is why an edit was not saved, and where it is.
type DraftError struct {
	Err  error
	Path string
}

// Error implements error.
func (e *DraftError) Error() string { return e.Err.Error() }

// Unwrap returns why the edit was not saved.
func (e *DraftError) Unwrap() error { return e.Err }

// ErrNotSaved says that somebody left the editor without saving a change.
var ErrNotSaved = errors.New("the editor was left without saving a change")

// An Editor runs the user's editor on drafts.
type Editor struct {
	Command func(context.Context) (string, error) // for the shell
	Env     []string
	Dir     string
	// In, Out and Err are the standard streams as other programs are given them.
	In         io.Reader
	Out, Err   io.Writer
	Device     func() (io.ReadWriteCloser, error) // nil where they are the terminal
	Interrupts *Interrupts
}

// Edit runs the editor on a draft and returns what was saved. Whoever leaves the editor as it
// was opened, with a failure or with nothing in it has decided nothing: Edit then returns an
// error, [ErrNotSaved] where the editor itself did not fail, and whoever calls must not go on
// as if something had been agreed to.
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

// on is Edit on streams that are given.
func (e *Editor) on(ctx context.Context, d *Draft, streams func(*exec.Cmd)) ([]byte, error) {
	editor, err := e.Command(ctx)
	if err != nil {
		return nil, err
	}
	// As git does: a command for the shell, with the file as its argument. An interrupt is the
	// editor's, where it is a key like others: neither the shell nor we end by it.
	cmd := exec.CommandContext(ctx, "sh", "-c", "trap : INT\n"+editor+` "$@"`, editor, d.path)
	streams(cmd)
	cmd.Env, cmd.Dir = e.Env, e.Dir
	defer e.Interrupts.Take(func() bool { return true })()
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run the editor %q: %w", editor, err)
	}
	after, err := regular.ReadFile(d.path, regular.MaxOwn)
	if err == nil && (bytes.Equal(after, d.original) || len(bytes.TrimSpace(after)) == 0) {
		err = ErrNotSaved
	}
	return after, err
}
