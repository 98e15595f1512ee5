package git

import (
	"bufio"
	"context"
	"io"
	"os/exec"

	"github.com/git-jp/git-jp/gitint/internal/object"
)

// The modes of git cat-file.
const (
	Contents = "--batch"
	Heads    = "--batch-check" // kinds and sizes only
)

// A CatFile reads one object after the other from a git that lives until Close: it serves callers
// with different contexts. Git starts when it is asked first, and again after a failure. A CatFile
// must not be used concurrently.
type CatFile struct {
	git     *Runner
	mode    string
	running *process // nil before the first question
}

// A process is a running git cat-file.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  answers
	stop context.CancelFunc
}

// CatFile returns a reader of objects in a mode.
func (r *Runner) CatFile(mode string) CatFile { return CatFile{git: r, mode: mode} }

// Check asks for an object in the mode [Heads].
func (c *CatFile) Check(ctx context.Context, id object.ID) (Answer, error) {
	return c.ask(ctx, id, func(out *answers) (Answer, error) { return out.head(id) })
}

// Read asks for an object of at most limit bytes in the mode [Contents].
func (c *CatFile) Read(ctx context.Context, id object.ID, limit int64) (object.Object, error) {
	a, err := c.ask(ctx, id, func(out *answers) (Answer, error) {
		a, err := out.head(id)
		switch {
		case err != nil:
			return a, err
		case a.Size > limit:
			return a, &object.SizeError{OID: id, Size: a.Size, Max: limit}
		}
		return out.content(id, a)
	})
	return a.Object, err
}

// ask writes a name and reads the answer. It ends git when ctx is done, so that a waiting read
// returns, and after an object that is too large, which git would continue to decompress.
func (c *CatFile) ask(
	ctx context.Context, id object.ID, answer func(*answers) (Answer, error),
) (a Answer, err error) {
	if id.IsZero() {
		return Answer{}, object.ErrMissing
	}
	if c.running == nil {
		if c.running, err = c.git.start(c.mode); err != nil {
			return Answer{}, err
		}
	}
	defer context.AfterFunc(ctx, c.running.stop)()
	if _, err = io.WriteString(c.running.in, id.String()+"\n"); err == nil {
		a, err = answer(&c.running.out)
	}
	if err == nil || isAnswer(err) {
		return a, err
	}
	c.Close()
	if object.IsTooLarge(err) {
		return Answer{}, err
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return Answer{}, &BrokenError{err}
}

// start starts git in a mode.
func (r *Runner) start(mode string) (*process, error) {
	ctx, stop := context.WithCancel(context.Background())
	cmd := r.prepare(ctx, Command{Args: []string{"cat-file", mode}})
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
	began := r.now()
	err = cmd.Start()
	r.Trace.Command(cmd.Args, began, 0, err)
	if err != nil {
		stop()
		return nil, exitError(cmd.Args[1:], "", err)
	}
	return &process{cmd, in, answers{in: bufio.NewReaderSize(out, 64<<10)}, stop}, nil
}

// Close ends the process, if it runs.
func (c *CatFile) Close() {
	if c.running == nil {
		return
	}
	_ = c.running.in.Close()
	c.running.stop()
	_ = c.running.cmd.Wait() // it was ended: its status says nothing
	c.running = nil
}

// A BrokenError reports that git gave no answer, or another than it gives.
type BrokenError struct{ err error }

// Error has the cause.
func (e *BrokenError) Error() string { return "git cat-file: " + e.err.Error() }

// Unwrap returns the cause.
func (e *BrokenError) Unwrap() error { return e.err }

// CatAll asks one process for many objects, and calls f with its answers in their order. It returns
// the index of the first object without an answer, and which of those before git did not answer
// validly: missing ones, and those with the content of another. The error is that of f, or of the
// context.
func (r *Runner) CatAll(
	ctx context.Context, mode string, ids []object.ID, f func(i int, a Answer) error,
) (next int, passed []int, err error) {
	var fault error // of f
	broken := r.Stream(ctx, Command{
		Args:  []string{"cat-file", mode, "--buffer"},
		Stdin: Lines(ids),
	}, func(out io.Reader) error {
		in := answers{in: bufio.NewReaderSize(out, 256<<10)}
		for ; next < len(ids); next++ {
			a, err := in.head(ids[next])
			if err == nil && mode == Contents {
				a, err = in.content(ids[next], a)
			}
			switch {
			case err == nil:
				if fault = f(next, a); fault != nil {
					return fault
				}
			case isAnswer(err):
				passed = append(passed, next)
			default:
				return err
			}
		}
		return nil
	})
	if fault == nil && broken != nil {
		fault = ctx.Err() // if git failed, the caller continues
	}
	return next, passed, fault
}
