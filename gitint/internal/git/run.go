package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-jp/git-jp/gitint/internal/environ"
	"github.com/git-jp/git-jp/internal/trace"
)

// A Runner runs git in one directory with one environment. Its fields are not changed while it
// runs.
type Runner struct {
	// Dir is where git runs, and Env its environment.
	Dir string
	Env environ.List
	// Trace, if not nil, gets a line for every git that runs.
	Trace *trace.Log
	// Clock, if not nil, is the clock of the trace.
	Clock func() time.Time

	started atomic.Int64
}

// A Command is one call of git.
type Command struct {
	Args  []string
	Stdin io.Reader
	// Env is added to the environment of the runner.
	Env []string
	// Write allows git to take locks. Without it the command only reads.
	Write bool
	// Remote allows the command to talk to other machines. No other command does, not even to fetch
	// a missing object in a partial clone.
	Remote bool
	// Terminal, if set, is where git shows progress and asks for passwords.
	Terminal *os.File
}

// Processes returns how many processes were started so far.
func (r *Runner) Processes() int { return int(r.started.Load()) }

// now returns the time for the trace, zero without a clock.
func (r *Runner) now() time.Time {
	if r.Clock == nil {
		return time.Time{}
	}
	return r.Clock()
}

// readEnv is added to every command that only reads: no optional locks, so that no command
// refreshes the index; objects as they are stored.
var readEnv = [...]string{
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_NO_REPLACE_OBJECTS=1",
}

// readSettings are set for every command that only reads: what git prints of commits is in UTF-8,
// whatever the user's terminal shows.
var readSettings = [...]string{"-c", "i18n.logOutputEncoding=UTF-8"}

// offlineEnv keeps git from the network, even a git that does not know GIT_NO_LAZY_FETCH.
var offlineEnv = [...]string{
	"GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=none",
}

// promptEnv allows prompts again, for a command on the user's terminal.
const promptEnv = "GIT_TERMINAL_PROMPT=1"

// commonEnv is added to every command: untranslated messages, no prompts, and literal paths.
var commonEnv = [...]string{
	"LC_ALL=C",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_LITERAL_PATHSPECS=1",
}

// Run runs git and returns its standard output. If git fails, the error is an *ExitError.
func (r *Runner) Run(ctx context.Context, c Command) ([]byte, error) {
	out, _, err := r.RunWarned(ctx, c)
	return out, err
}

// RunWarned also returns git's standard error.
func (r *Runner) RunWarned(
	ctx context.Context, c Command,
) (out []byte, warnings string, err error) {
	stdout, err := newOutput()
	if err != nil {
		return nil, "", err
	}
	warnings, err = r.exec(ctx, c, func(cmd *exec.Cmd) error {
		cmd.Stdout = stdout.write
		return cmd.Run()
	})
	return stdout.end(), warnings, err
}

// Stream runs git and passes its standard output to f while it runs. An error of f ends git and is
// returned.
func (r *Runner) Stream(ctx context.Context, c Command, f func(io.Reader) error) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var readErr error
	_, err := r.exec(running, c, func(cmd *exec.Cmd) error {
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		readErr = f(out)
		if readErr != nil {
			cancel()
		}
		if err := cmd.Wait(); err != nil && readErr == nil {
			return err
		}
		return readErr
	})
	// The error of f is more useful than that git was ended.
	if readErr != nil && ctx.Err() == nil {
		return readErr
	}
	return err
}

// exec prepares git, runs it with do, and converts its failure to an *ExitError. It also returns
// git's standard error.
func (r *Runner) exec(ctx context.Context, c Command, do func(*exec.Cmd) error) (string, error) {
	if slices.ContainsFunc(c.Args, func(arg string) bool { return strings.ContainsRune(arg, 0) }) {
		return "", fmt.Errorf("git %s: %w", c.Args[0], ErrZeroByte)
	}
	stderr, err := newOutput()
	if err != nil {
		return "", err
	}
	cmd := r.prepare(ctx, c)
	cmd.Stderr = stderr.write
	if c.Terminal != nil {
		cmd.Stderr = c.Terminal
	}
	start := r.now()
	err = do(cmd)
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // git succeeded; what it did not read does not matter
	}
	r.Trace.Command(slices.Concat([]string{"git"}, c.Args), start, r.now().Sub(start), err)
	said := string(stderr.end())
	if err == nil {
		return said, nil
	}
	if ctx.Err() != nil {
		return said, fmt.Errorf("git %s: %w", c.Args[0], ctx.Err())
	}
	return said, exitError(c.Args, said, err)
}

// prepare returns the process of a command, not started.
func (r *Runner) prepare(ctx context.Context, c Command) *exec.Cmd {
	r.started.Add(1)
	args := c.Args
	env := slices.Concat(r.Env, commonEnv[:])
	if c.Write {
		args = append([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...)
	} else {
		args = slices.Concat(readSettings[:], args)
		env = append(env, readEnv[:]...)
	}
	if !c.Remote {
		env = append(env, offlineEnv[:]...)
	}
	if c.Terminal != nil && r.Env.Get("GIT_TERMINAL_PROMPT") != "0" {
		env = append(env, promptEnv)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.Dir
	cmd.Env = append(env, c.Env...)
	cmd.Stdin = c.Stdin
	// A grandchild that keeps the input open must not block this process after git has ended.
	cmd.WaitDelay = 2 * time.Second
	if c.Remote {
		endsWithUs(cmd)
	}
	return cmd
}

// exitError converts a failure of the process to an *ExitError. It does not change other errors,
// such as one of the reader of its output.
func exitError(args []string, stderr string, err error) error {
	code := -1
	var ee *exec.ExitError
	switch {
	case errors.As(err, &ee):
		code = ee.ExitCode()
	case errors.Is(err, exec.ErrNotFound):
	default:
		if execErr := new(exec.Error); !errors.As(err, &execErr) {
			return err
		}
	}
	return &ExitError{Args: args, Code: code, Stderr: strings.TrimSpace(stderr), Err: err}
}
