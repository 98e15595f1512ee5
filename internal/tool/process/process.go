package process

import (
	"cmp"
	"context"
	"crypto/sha1" // jp's configuration offers it
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool"
)

const defaultGrace = 2 * time.Second

// A Launcher starts processes. It implements [tool.Starter] without asking for approval.
type Launcher struct {
	// Env is the environment of every process; see [Minimal].
	Env []string
	// Environ has the values of variables that a command names.
	Environ []string
	// Grace is how long a process may take to end when asked to; zero is 2 seconds.
	Grace time.Duration
	// Groups records the running processes; it may be nil.
	Groups *Groups
}

// Groups records the running process groups, so that they can be killed when this program ends. The
// zero value is ready to use.
type Groups struct {
	// Before is called before a program starts; it may be nil.
	Before func()

	mu      sync.Mutex
	running map[*exec.Cmd]bool
}

func (g *Groups) before() {
	if g != nil && g.Before != nil {
		g.Before()
	}
}

func (g *Groups) add(cmd *exec.Cmd) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running == nil {
		g.running = map[*exec.Cmd]bool{}
	}
	g.running[cmd] = true
}

func (g *Groups) remove(cmd *exec.Cmd) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, cmd)
}

// Kill kills all of them, without a grace period.
func (g *Groups) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for cmd := range g.running {
		killGroup(cmd)
	}
}

var _ tool.Starter = Launcher{}

// minimal are the variables that most programs need.
var minimal = [...]string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ",
	"TMPDIR", "TEMP", "TMP", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
	"XDG_STATE_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "SYSTEMROOT", "SYSTEMDRIVE",
	"COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
	"PROGRAMFILES", "WINDIR", "NUMBER_OF_PROCESSORS",
}

// Minimal returns the part of an environment that any program may have: paths and locale settings,
// but no keys.
func Minimal(environ []string) []string {
	var env []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(name)
		if slices.Contains(minimal[:], name) || strings.HasPrefix(name, "LC_") {
			env = append(env, kv)
		}
	}
	return env
}

// Start implements [tool.Starter].
func (l Launcher) Start(ctx context.Context, c tool.Command) (tool.Process, error) {
	cmd := exec.CommandContext(ctx, c.Program, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = slices.Concat(l.Env, l.named(c.Variables))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	cmd.WaitDelay = cmp.Or(l.Grace, defaultGrace)
	p := &process{cmd: cmd, ctx: ctx, groups: l.Groups}
	group(cmd, p.tell)
	if err := verify(cmd.Path, c.Checksum); err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Program, err)
	}
	l.Groups.before()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Program, err)
	}
	l.Groups.add(cmd)
	return p, nil
}

// named returns the variables with these names that are set.
func (l Launcher) named(names []string) []string {
	return lists.Filter(l.Environ, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

// verify compares the file of a program with a checksum.
func verify(file, checksum string) error {
	if checksum == "" {
		return nil
	}
	algorithm, want, _ := strings.Cut(checksum, ":")
	var h hash.Hash
	switch algorithm {
	case "sha256":
		h = sha256.New()
	case "sha1":
		h = sha1.New() // see above
	default:
		return fmt.Errorf("checksum %q has no known algorithm", checksum)
	}
	f, err := regular.OpenFile(file)
	if err != nil {
		return fmt.Errorf("verify checksum: %w", err)
	}
	_, err = io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("verify checksum: %w", err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); !strings.EqualFold(got, want) {
		return fmt.Errorf("%s of %q is %s, not %s", algorithm, file, got, want)
	}
	return nil
}

type process struct {
	cmd *exec.Cmd
	ctx context.Context // the one that Start was given

	groups *Groups
	over   <-chan time.Time // the grace period, once it was asked to end
}

// tell starts the grace period, which the whole group shares. It is called by Cancel of the
// command, after which [exec.Cmd.Wait] returns.
func (p *process) tell() { p.over = time.After(p.cmd.WaitDelay) }

// Wait implements [tool.Process].
func (p *process) Wait() error {
	err := p.cmd.Wait()
	defer p.groups.remove(p.cmd)
	if p.ctx.Err() != nil {
		endGroup(p.cmd, p.over) // kills what did not end when asked
		return p.ctx.Err()
	}
	var ee *exec.ExitError
	switch {
	case errors.As(err, &ee):
		return &tool.ExitError{Code: ee.ExitCode(), Detail: ee.String()}
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it succeeded; a descendant holds its output open
	}
	return err
}
