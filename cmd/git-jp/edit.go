package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

type editCmd struct {
	Conversation string `arg:"" optional:"" help:"The conversation; the active one by default."`
	Events       bool   `short:"e" xor:"file" help:"Edit events.json; this is the default."`
	Metadata     bool   `short:"m" xor:"file" help:"Edit metadata.json."`
	BaseConfig   bool   `short:"b" xor:"file" help:"Edit base_config.json."`
}

// Help says when an edit is saved.
func (editCmd) Help() string {
	return `Opens the file in the editor that git uses. It is saved only when it still loads: after
a mistake you can go on editing, and nothing is lost. A file that does not load now can be
mended this way. Content may be written in place, as {"text": "..."}; saving moves it to the
store.`
}

// Run edits one file of a conversation.
func (c editCmd) Run(ctx context.Context, a *app) error {
	e, err := a.findOr(c.Conversation)
	if err != nil {
		return err
	}
	if e.Legacy {
		return fmt.Errorf("edit %s: %w", e.ID, workspace.ErrLegacy)
	}
	before, err := a.openWorkspace.ReadFile(e, c.filename())
	if err != nil {
		return err
	}
	draft, err := newDraft(c.filename(), before)
	if err != nil {
		return err
	}
	for {
		after, err := a.edit(ctx, draft)
		switch {
		case errors.Is(err, errNotSaved):
			a.note("nothing was changed")
			return draft.remove()
		case err != nil:
			return draft.keep(err)
		}
		err = c.save(ctx, a, e, before, after)
		if err == nil {
			a.note("saved %s of %s", c.filename(), e.ID)
			return draft.remove()
		}
		err = fmt.Errorf("save %s: %w", c.filename(), err)
		if !a.confirm(fmt.Sprintf("%v\nedit again?", err)) {
			return draft.keep(err)
		}
	}
}

func (c editCmd) filename() string {
	switch {
	case c.Metadata:
		return workspace.MetadataFile
	case c.BaseConfig:
		return workspace.BaseConfigFile
	default:
		return workspace.EventsFile
	}
}

// A draft is a file where the editor may write: never in the conversation itself,
// where a half-edited file would be trash for jp.
type draft struct {
	path     string
	original []byte
}

func newDraft(name string, data []byte) (*draft, error) {
	dir, err := os.MkdirTemp("", "git-jp-edit-")
	if err != nil {
		return nil, err
	}
	d := &draft{path: filepath.Join(dir, name), original: data}
	return d, os.WriteFile(d.path, data, 0o600)
}

func (d *draft) remove() error { return os.RemoveAll(filepath.Dir(d.path)) }

// keep leaves the draft to the user, if there is anything of theirs in it.
func (d *draft) keep(err error) error {
	now, readErr := regular.ReadFile(d.path, regular.MaxOwn)
	if readErr != nil || bytes.Equal(now, d.original) {
		return errors.Join(err, d.remove())
	}
	return &draftError{err: err, path: d.path}
}

// A draftError is an edit that was not saved.
type draftError struct {
	err  error
	path string
}

func (e *draftError) Error() string { return e.err.Error() }
func (e *draftError) Unwrap() error { return e.err }

// errNotSaved says that somebody left the editor without saving a change.
var errNotSaved = errors.New("the editor was left without saving a change")

// edit runs the editor on a draft and returns what was saved. Whoever leaves the editor as it
// was opened, with a failure or with nothing in it has decided nothing: edit then returns an
// error, [errNotSaved] where the editor itself did not fail, and whoever calls must not go on
// as if something had been agreed to.
func (a *app) edit(ctx context.Context, d *draft) ([]byte, error) {
	if !a.stdinTerminal || !a.stdoutTerminal {
		if tty, err := a.terminal(); err == nil {
			defer func() { _ = tty.Close() }()
			return a.editOn(ctx, d, func(cmd *exec.Cmd) {
				cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
			})
		}
	}
	return a.editOn(ctx, d, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, unwrapped(a.stdout), unwrapped(a.stderr)
	})
}

// editOn is edit on other streams than the standard ones.
func (a *app) editOn(
	ctx context.Context, d *draft, streams func(*exec.Cmd),
) ([]byte, error) {
	editor, err := a.editor(ctx)
	if err != nil {
		return nil, err
	}
	// As git does: a command for the shell, with the file as its argument. An interrupt is the
	// editor's, where it is a key like others: neither the shell nor we end by it.
	cmd := exec.CommandContext(ctx, "sh", "-c", "trap : INT\n"+editor+` "$@"`, editor, d.path)
	streams(cmd)
	cmd.Env, cmd.Dir = a.env, a.directory()
	defer a.interrupts.take(func() bool { return true })()
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run the editor %q: %w", editor, err)
	}
	after, err := regular.ReadFile(d.path, regular.MaxOwn)
	if err == nil && (bytes.Equal(after, d.original) || len(bytes.TrimSpace(after)) == 0) {
		err = errNotSaved
	}
	return after, err
}

// editor returns git's editor.
func (a *app) editor(ctx context.Context) (string, error) {
	if e := a.getenv("GIT_EDITOR"); e != "" {
		return e, nil
	}
	if repo, err := a.repo(ctx); err == nil {
		if e, ok, err := repo.Config(ctx, "core.editor"); err == nil && ok {
			return e, nil
		}
	}
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if e := a.getenv(name); e != "" {
			return e, nil
		}
	}
	if !a.stdinTerminal {
		return "", errors.New("no editor is set, and this is no terminal")
	}
	return "vi", nil
}

// save puts what the editor left in the place of the file, unless that is no longer
// what the editor was given.
func (c editCmd) save(
	ctx context.Context, a *app, e workspace.Entry, before, after []byte,
) error {
	return a.openWorkspace.Replace(ctx, e.ID, workspace.Replacement{
		Name: c.filename(), Before: before, After: after,
	})
}
