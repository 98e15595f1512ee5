package recheck

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// readObjects are the arguments of the git process that reads objects.
var readObjects = [...]string{"cat-file", "--batch-command", "--buffer"}

// A batch looks up and reads objects through one git process, which runs from the first request
// until close.
type batch struct {
	git *git
	cmd *exec.Cmd // nil while no process runs
	in  io.WriteCloser
	out *bufio.Reader
}

// objects reads objects and calls f with each, in their order. Each is hashed and compared with its
// name. For an object that cannot be read, the error is an *objectError. f must not read other
// objects.
func (b *batch) objects(
	ctx context.Context, ids []oid, f func(i int, kind string, r io.Reader) error,
) error {
	if len(ids) == 0 {
		return nil
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.hex()
	}
	if err := b.ask(ctx, "contents", names); err != nil {
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

// infos asks about objects by any names that git resolves.
func (b *batch) infos(ctx context.Context, names []string) ([]info, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if err := b.ask(ctx, "info", names); err != nil {
		return nil, err
	}
	all := make([]info, len(names))
	for i := range names {
		line, err := b.out.ReadString('\n')
		if err != nil {
			return nil, b.fail(ctx, fmt.Errorf("read what git knows of objects: %w", err))
		}
		all[i], _ = parseInfo(strings.TrimSuffix(line, "\n"))
	}
	return all, nil
}

// ask requests all objects at once: with --buffer, git answers at the flush.
func (b *batch) ask(ctx context.Context, command string, names []string) error {
	if b.cmd == nil {
		if err := b.start(ctx); err != nil {
			return err
		}
	}
	var input bytes.Buffer
	for _, name := range names {
		input.WriteString(command + " " + name + "\n")
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

// fail stops a git process whose remaining answers are not needed, and returns an error with its
// messages.
func (b *batch) fail(ctx context.Context, err error) error {
	cmd := b.cmd
	_ = cmd.Process.Kill() // it may still be running
	b.close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &gitError{readObjects[:], stderrOf(cmd), err}
}

// close ends the git process. Its exit code is not needed: every answer was complete, and every
// object was verified by its hash.
func (b *batch) close() {
	if b.cmd == nil {
		return
	}
	_ = b.in.Close()
	_ = b.cmd.Wait()
	b.cmd = nil
}
