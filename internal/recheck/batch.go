package recheck

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os/exec"
)

// readObjects is how git is started that reads objects.
var readObjects = [...]string{"cat-file", "--batch-command", "--buffer"}

// A batch is one git that reads objects, from the first that is asked for until it is closed.
type batch struct {
	git *git
	cmd *exec.Cmd // nil where none runs
	in  io.WriteCloser
	out *bufio.Reader
}

// objects reads objects and calls f with each, in their order. Each is hashed and has its name;
// what cannot be read is an *objectError. f must not ask for others.
func (b *batch) objects(
	ctx context.Context, ids []oid, f func(i int, kind string, r io.Reader) error,
) error {
	if len(ids) == 0 {
		return nil
	}
	if err := b.ask(ctx, ids); err != nil {
		return err
	}
	for i, id := range ids {
		if err := b.git.object(b.out, id, func(kind string, r io.Reader) error {
			return f(i, kind, r)
		}); err != nil {
			return b.fail(ctx, &objectError{id, err})
		}
	}
	return nil
}

// ask asks git for all objects at once: it answers when it was asked for the last.
func (b *batch) ask(ctx context.Context, ids []oid) error {
	if b.cmd == nil {
		if err := b.start(ctx); err != nil {
			return err
		}
	}
	var input bytes.Buffer
	for _, id := range ids {
		input.WriteString("contents " + id.hex() + "\n")
	}
	input.WriteString("flush\n")
	if _, err := input.WriteTo(b.in); err != nil {
		return b.fail(ctx, err)
	}
	return nil
}

func (b *batch) start(ctx context.Context) (err error) {
	cmd := b.git.command(ctx, readObjects[:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if b.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return &gitError{readObjects[:], "", err}
	}
	b.cmd, b.out = cmd, bufio.NewReaderSize(out, 64<<10)
	return nil
}

// fail ends a git of which nobody reads the other answers, and says what it said.
func (b *batch) fail(ctx context.Context, err error) error {
	cmd := b.cmd
	_ = cmd.Process.Kill() // where it has not ended by itself
	b.close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &gitError{readObjects[:], stderrOf(cmd), err}
}

// close ends git, of which every object has shown by its hash that it was read.
func (b *batch) close() {
	if b.cmd == nil {
		return
	}
	_ = b.in.Close()
	_ = b.cmd.Wait()
	b.cmd = nil
}
