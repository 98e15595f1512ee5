package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// ErrPagerQuit reports that the reader left the pager before everything was written. It is not a
// failure: the rest need not be rendered.
var ErrPagerQuit = errors.New("the pager has quit")

// PagerOptions say which pager to start, and with what.
type PagerOptions struct {
	// Command is the value of "git var GIT_PAGER", a command for the shell. "" and
	// "cat" mean none.
	Command string
	Env     []string // complete environment of the process; required
	Out     *os.File // required; the terminal
}

// A Pager is a running pager. Its Close must be called, and waits for the reader.
type Pager struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// shellCharacters are those with which git, too, leaves a command to the shell.
const shellCharacters = "|&;<>()$`\\\"' \t\n*?[#~=%"

// StartPager starts the pager, or returns nil when there is none to start. The caller decides
// whether the output is a terminal. Like git, it sets LESS=FRX and LV=-c if they are not set.
//
// An interrupt reaches both the pager and the program; the program must outlive the pager, or the
// terminal stays in the pager's mode.
func StartPager(ctx context.Context, o PagerOptions) (*Pager, error) {
	command := strings.TrimSpace(o.Command)
	if command == "" || command == "cat" {
		return nil, nil
	}
	args := []string{"sh", "-c", command}
	if !strings.ContainsAny(command, shellCharacters) {
		args = []string{command} // an error says that it is not there
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = withDefaults(o.Env, "LESS=FRX", "LV=-c")
	cmd.Stdout, cmd.Stderr = o.Out, o.Out
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start pager %q: %w", command, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start pager %q: %w", command, err)
	}
	return &Pager{cmd: cmd, in: in}, nil
}

// Write gives the pager more to show. The error is [ErrPagerQuit] when it has quit.
func (p *Pager) Write(b []byte) (int, error) {
	n, err := p.in.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		err = ErrPagerQuit
	}
	return n, err
}

// Close closes the pager's input and waits until the reader has left the pager.
func (p *Pager) Close() error {
	// The pipe may be broken already, because most readers leave early.
	_ = p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("pager: %w", err)
	}
	return nil
}

// withDefaults returns env with those of the settings that it does not have.
func withDefaults(env []string, settings ...string) []string {
	all := slices.Clone(env)
	for _, setting := range settings {
		key, _, _ := strings.Cut(setting, "=")
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, key+"=") }) {
			all = append(all, setting)
		}
	}
	return all
}
