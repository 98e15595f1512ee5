package ask

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

// A Prompter asks the user while a query runs: on the terminal device, one question at a time, with
// nothing else written meanwhile.
type Prompter struct {
	terminal *Terminal
	ctx      context.Context // ends every question
	turn     sync.Mutex      // held during a question

	mu     sync.Mutex
	asking bool
}

// NewPrompter returns nil if there is no terminal, or this process is in its background.
func (t *Terminal) NewPrompter(ctx context.Context) *Prompter {
	tty, err := t.Device()
	if err != nil {
		return nil
	}
	if f, ok := tty.(*os.File); ok && !foreground(f) {
		err = ErrNobodyThere // a read would stop the process
	}
	if errors.Join(err, tty.Close()) != nil {
		return nil
	}
	return &Prompter{terminal: t, ctx: ctx}
}

// busy reports whether a question is open.
func (p *Prompter) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asking
}

func (p *Prompter) setAsking(asking bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asking = asking
}

// A Prompt is a question and those that follow from it.
type Prompt struct {
	prompter *Prompter
	tty      io.ReadWriteCloser
	release  func()
	stop     func() bool
}

// Open begins a question. The caller must close it.
func (p *Prompter) Open(ctx context.Context) (*Prompt, error) {
	p.turn.Lock()
	if err := ctx.Err(); err != nil {
		p.turn.Unlock()
		return nil, context.Cause(ctx)
	}
	tty, err := p.terminal.Device()
	if err != nil {
		p.turn.Unlock()
		return nil, fmt.Errorf("%w: %w", ErrNobodyThere, err)
	}
	p.setAsking(true)
	s := &Prompt{prompter: p, tty: tty, release: p.terminal.screen.hold()}
	// Closing the device ends a wait for a line.
	s.stop = context.AfterFunc(ctx, func() { _ = tty.Close() })
	return s, nil
}

// Close ends the question.
func (s *Prompt) Close() error {
	var err error
	if s.stop() {
		err = s.tty.Close()
	}
	s.prompter.setAsking(false)
	s.release()
	s.prompter.turn.Unlock()
	return err
}

// Write implements [io.Writer].
func (s *Prompt) Write(p []byte) (int, error) { return s.tty.Write(p) }

// Read implements [io.Reader].
func (s *Prompt) Read(p []byte) (int, error) { return s.tty.Read(p) }

// Say shows text, which may come from conversations, without control characters.
func (s *Prompt) Say(format string, args ...any) {
	fmt.Fprint(s.tty, render.Sanitize(fmt.Sprintf(format, args...)))
}

// Line asks a question and reads a line as the answer. It returns an error if the terminal is gone.
func (s *Prompt) Line(format string, args ...any) (string, error) {
	s.Say(format, args...)
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := s.tty.Read(b)
		if n == 1 && b[0] == '\n' {
			return strings.TrimSpace(string(line)), nil
		}
		line = append(line, b[:n]...)
		if err != nil {
			return "", errors.Join(ErrNobodyThere, err)
		}
	}
}

// Edit lets the user edit a text in the editor, on the terminal. It returns the saved text, or an
// error if no change was saved, see [Editor.Edit].
func (s *Prompt) Edit(ctx context.Context, name, text string) (string, error) {
	d, err := NewDraft(name, []byte(text))
	if err != nil {
		return "", err
	}
	// A second device: once a program has been given it, closing it does not end a wait.
	tty, err := s.prompter.terminal.Device()
	if err != nil {
		return "", errors.Join(ErrNobodyThere, err, d.Remove())
	}
	defer func() { _ = tty.Close() }()
	edited, err := s.prompter.terminal.Editor.on(ctx, d, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	})
	return string(edited), errors.Join(err, d.Remove())
}

// Terminal opens the terminal for a caller that asks in its own way; closing it ends the question.
func (p *Prompter) Terminal() (io.ReadWriteCloser, error) { return p.Open(p.ctx) }
