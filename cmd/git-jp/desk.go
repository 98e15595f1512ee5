package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/internal/render"
)

// A desk is where the person at the terminal is asked while a query runs: on the terminal
// device, wherever the standard streams lead, one question at a time, with nothing else
// written meanwhile.
type desk struct {
	app  *app
	ctx  context.Context // ends every question
	turn sync.Mutex      // held by who asks

	mu     sync.Mutex
	asking bool
}

// errNobodyThere says that there is no terminal to ask on.
var errNobodyThere = errors.New("there is no terminal to ask on")

// newDesk returns nil where nobody can be asked.
func (a *app) newDesk(ctx context.Context) *desk {
	tty, err := a.terminal()
	if err != nil {
		return nil
	}
	if f, ok := tty.(*os.File); ok && !foreground(f) {
		err = errNobodyThere // it would stop us, not answer
	}
	if errors.Join(err, tty.Close()) != nil {
		return nil
	}
	return &desk{app: a, ctx: ctx}
}

// busy reports whether somebody is being asked.
func (d *desk) busy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asking
}

func (d *desk) setAsking(asking bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asking = asking
}

// A sitting is one question, and what follows from it.
type sitting struct {
	desk    *desk
	tty     io.ReadWriteCloser
	release func()
	stop    func() bool
}

// open begins a sitting. It is the caller's to close it.
func (d *desk) open(ctx context.Context) (*sitting, error) {
	d.turn.Lock()
	if err := ctx.Err(); err != nil {
		d.turn.Unlock()
		return nil, context.Cause(ctx)
	}
	tty, err := d.app.terminal()
	if err != nil {
		d.turn.Unlock()
		return nil, fmt.Errorf("%w: %w", errNobodyThere, err)
	}
	d.setAsking(true)
	s := &sitting{desk: d, tty: tty, release: d.app.screen.hold()}
	// Closing the device ends the wait for a line.
	s.stop = context.AfterFunc(ctx, func() { _ = tty.Close() })
	return s, nil
}

// Close ends the sitting.
func (s *sitting) Close() error {
	var err error
	if s.stop() {
		err = s.tty.Close()
	}
	s.desk.setAsking(false)
	s.release()
	s.desk.turn.Unlock()
	return err
}

// Write implements [io.Writer].
func (s *sitting) Write(p []byte) (int, error) { return s.tty.Write(p) }

// Read implements [io.Reader].
func (s *sitting) Read(p []byte) (int, error) { return s.tty.Read(p) }

// say shows text of conversations, and more.
func (s *sitting) say(format string, args ...any) {
	fmt.Fprint(s.tty, render.Sanitize(fmt.Sprintf(format, args...)))
}

// line puts a question and reads the line that answers it. A terminal that is gone gives an
// error.
func (s *sitting) line(format string, args ...any) (string, error) {
	s.say(format, args...)
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := s.tty.Read(b)
		if n == 1 && b[0] == '\n' {
			return strings.TrimSpace(string(line)), nil
		}
		line = append(line, b[:n]...)
		if err != nil {
			return "", errors.Join(errNobodyThere, err)
		}
	}
}

// edit lets the person edit a text in the editor, on the terminal. It returns what was saved,
// and an error where nothing was, see [app.edit].
func (s *sitting) edit(ctx context.Context, name, text string) (string, error) {
	d, err := newDraft(name, []byte(text))
	if err != nil {
		return "", err
	}
	// A device of its own: one that a program was given cannot be waited for and closed.
	tty, err := s.desk.app.terminal()
	if err != nil {
		return "", errors.Join(errNobodyThere, err, d.remove())
	}
	defer func() { _ = tty.Close() }()
	edited, err := s.desk.app.editOn(ctx, d, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	})
	return string(edited), errors.Join(err, d.remove())
}

// terminal opens the terminal for who asks in their own way; to close it ends the question.
func (d *desk) terminal() (io.ReadWriteCloser, error) { return d.open(d.ctx) }
