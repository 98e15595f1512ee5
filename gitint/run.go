package gitint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A command is one call of git.
type command struct {
	args  []string
	stdin io.Reader
	// env is added to the environment of the repository.
	env []string
	// write allows git to take locks. Without it the command only reads.
	write bool
	// remote lets the command talk to other machines. No other does, also not to fetch an
	// object that is missing in a partial clone.
	remote bool
	// terminal, if set, is where git shows progress and asks for passwords.
	terminal *os.File
	// dir is where git runs; empty is the root of the working tree.
	dir string
}

// readEnv is added to every command that only reads: no optional locks, so that
// nothing refreshes the index behind our back; objects as they are stored.
var readEnv = [...]string{
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_NO_REPLACE_OBJECTS=1",
}

// offlineEnv keeps git from the network, also where it does not know GIT_NO_LAZY_FETCH yet.
var offlineEnv = [...]string{
	"GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=none",
}

// promptEnv undoes, for a command on the user's terminal, that git asks no questions.
const promptEnv = "GIT_TERMINAL_PROMPT=1"

// commonEnv is added to every command: messages we may show, no questions, and
// paths that mean themselves.
var commonEnv = [...]string{
	"LC_ALL=C",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_LITERAL_PATHSPECS=1",
}

// run runs git and returns its standard output. The error of a git that fails
// is an *ExitError.
func (r *Repo) run(ctx context.Context, c command) ([]byte, error) {
	out, _, err := r.runWarned(ctx, c)
	return out, err
}

// runWarned also returns what git wrote to its standard error.
func (r *Repo) runWarned(ctx context.Context, c command) (out []byte, warnings string, err error) {
	var stdout bytes.Buffer
	warnings, err = r.exec(ctx, c, func(cmd *exec.Cmd) error {
		cmd.Stdout = &stdout
		return cmd.Run()
	})
	return stdout.Bytes(), warnings, err
}

// stream runs git and gives its standard output to f while it runs. An error of
// f ends git and is returned.
func (r *Repo) stream(ctx context.Context, c command, f func(io.Reader) error) error {
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
	// That git was ended is no news to who ended it.
	if readErr != nil && ctx.Err() == nil {
		return readErr
	}
	return err
}

// exec prepares git, lets do run it, and makes its failure an *ExitError. It also
// returns what git wrote to its standard error.
func (r *Repo) exec(ctx context.Context, c command, do func(*exec.Cmd) error) (string, error) {
	if slices.ContainsFunc(c.args, func(arg string) bool { return strings.ContainsRune(arg, 0) }) {
		return "", fmt.Errorf("git %s: %w", c.args[0], ErrZeroByte)
	}
	var stderr bytes.Buffer
	cmd := r.prepare(ctx, c)
	cmd.Stderr = &stderr
	if c.terminal != nil {
		cmd.Stderr = c.terminal
	}
	start := r.now()
	err := do(cmd)
	r.trace.Command(cmd.Args, start, r.now().Sub(start), err)
	if err == nil {
		return stderr.String(), nil
	}
	if ctx.Err() != nil {
		return stderr.String(), fmt.Errorf("git %s: %w", c.args[0], ctx.Err())
	}
	return stderr.String(), exitError(c.args, stderr.String(), err)
}

// prepare returns the process of a command, not started.
func (r *Repo) prepare(ctx context.Context, c command) *exec.Cmd {
	r.processes.Add(1)
	args := c.args
	env := slices.Concat(r.env, commonEnv[:])
	if c.write {
		args = append([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...)
	} else {
		env = append(env, readEnv[:]...)
	}
	if !c.remote {
		env = append(env, offlineEnv[:]...)
	}
	if c.terminal != nil && r.getenv("GIT_TERMINAL_PROMPT") != "0" {
		env = append(env, promptEnv)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.runDir
	if c.dir != "" {
		cmd.Dir = c.dir
	}
	cmd.Env = append(env, c.env...)
	cmd.Stdin = c.stdin
	// A grandchild that keeps a pipe open must not hold us after git is gone.
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// exitError makes a failure of the process an *ExitError. An error that is not
// about the process, such as one of the reader of its output, stays as it is.
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
