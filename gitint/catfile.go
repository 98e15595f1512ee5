package gitint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// catFile is one long-lived git cat-file process. It must not be used concurrently.
type catFile struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	stop context.CancelFunc
}

// A catFileAnswer is the line that git writes before an object.
type catFileAnswer struct {
	kind string
	size int64
}

// startCatFile starts git with --batch, which returns contents, or with --batch-check, which does
// not. The process lives until close: it serves callers with different contexts.
func (r *Repo) startCatFile(mode string) (*catFile, error) {
	ctx, stop := context.WithCancel(context.Background())
	cmd := r.prepare(ctx, command{args: []string{"cat-file", mode}})
	in, err := cmd.StdinPipe()
	if err != nil {
		stop()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		stop()
		return nil, err
	}
	start := r.now()
	err = cmd.Start()
	r.trace.Command(cmd.Args, start, 0, err)
	if err != nil {
		stop()
		return nil, exitError(cmd.Args[1:], "", err)
	}
	return &catFile{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10), stop: stop}, nil
}

// check returns the kind and the size of an object, or object.ErrMissing.
func (c *catFile) check(ctx context.Context, id OID) (catFileAnswer, error) {
	defer c.endWith(ctx)()
	if _, err := io.WriteString(c.in, id.String()+"\n"); err != nil {
		return catFileAnswer{}, c.fail(ctx, err)
	}
	answer, err := c.answer(id)
	if err != nil && !errors.Is(err, object.ErrMissing) {
		err = c.fail(ctx, err)
	}
	return answer, err
}

// read reads an object of at most limit bytes. After a larger one the process cannot be used any
// more: it would continue to decompress that one.
func (c *catFile) read(ctx context.Context, id OID, limit int64) (object.Object, error) {
	answer, err := c.check(ctx, id)
	if err != nil {
		return object.Object{}, err
	}
	defer c.endWith(ctx)()
	if answer.size > limit {
		return object.Object{}, &ObjectSizeError{OID: id, Size: answer.size, Max: limit}
	}
	data := make([]byte, answer.size)
	if _, err := io.ReadFull(c.out, data); err != nil {
		return object.Object{}, c.fail(ctx, err)
	}
	if _, err := c.out.Discard(1); err != nil { // the newline after it
		return object.Object{}, c.fail(ctx, err)
	}
	obj := object.Object{Kind: answer.kind, Data: data}
	return obj, obj.Verify(id)
}

// answer parses "<id> <kind> <size>" or "<id> missing".
func (c *catFile) answer(id OID) (catFileAnswer, error) {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return catFileAnswer{}, err
	}
	fields := strings.Fields(line)
	switch {
	case len(fields) < 2 || fields[0] != id.String():
		return catFileAnswer{}, fmt.Errorf("unexpected answer %q", line)
	case fields[1] == "missing":
		return catFileAnswer{}, object.ErrMissing
	case len(fields) != 3:
		return catFileAnswer{}, fmt.Errorf("unexpected answer %q", line)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	return catFileAnswer{kind: fields[1], size: size}, err
}

// endWith ends git when ctx is done, so that a waiting read returns.
func (c *catFile) endWith(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, c.stop)
}

// fail returns the error of a failed exchange.
func (c *catFile) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return &brokenCatFileError{err}
}

func (c *catFile) close() {
	_ = c.in.Close()
	c.stop()
	_ = c.cmd.Wait() // it was ended: its status says nothing
}

// brokenCatFileError reports that the process cannot be used any more.
type brokenCatFileError struct{ err error }

func (e *brokenCatFileError) Error() string { return "git cat-file: " + e.err.Error() }
func (e *brokenCatFileError) Unwrap() error { return e.err }
