package main

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/trust"
	"golang.org/x/term"
)

// version is set by the Makefile; builds by `go install` take it from the module.
var version string

// An environment is everything that the program takes from outside.
type environment struct {
	args           []string // without the program's name
	env            []string // as os.Environ returns it
	dir            string   // absolute working directory
	stdin          io.Reader
	stdout, stderr io.Writer
	now            func() time.Time
	random         func() float64 // from 0 to 1
	token          func() string  // not guessable
	pid            int
	session        func() (int, error) // getsid(0)
	leader         func(pid int) (age time.Duration, alive bool)
	stdinTerminal  bool
	stdoutTerminal bool
	stderrTerminal bool
	inPager        bool          // git started the pager, so that standard output is a pipe
	patience       time.Duration // how long git waits for a silent hook
	interrupts     *ask.Interrupts
	garbage        *garbage
	width          int // columns of the terminal, 0 when there is none
	version        string
	colorUI        string // git's color.ui, "" if it is not read
}

func main() {
	os.Exit(mainCode())
}

// mainCode runs the program in the environment of its process and returns its exit code.
func mainCode() int {
	// The runtime takes several times as much address space as it uses.
	limitMemory(addressSpace() / 8)
	later := collectLater()
	w, err := outside()
	if err != nil {
		return report.Print(os.Stderr, err)
	}
	w.garbage = later
	w.interrupts = &ask.Interrupts{Now: w.now}
	ctx, stop := w.interrupts.Listen(context.Background())
	defer stop()
	code := run(ctx, w)
	if code == report.ExitInterrupted && w.interrupts.Terminated() {
		code = report.ExitTerminated
	}
	w.interrupts.Groups.Kill() // programs that did not end in time have run until now
	for _, out := range []io.Writer{w.stdout, w.stderr} {
		if t, ok := out.(*render.Terminal); ok && t.Flush() != nil {
			code = max(code, report.ExitProblems)
		}
	}
	return code
}

// workingDir returns where the process is, as git sees it. PWD may name a link to it.
func workingDir() (string, error) {
	if dir, err := syscall.Getwd(); err == nil {
		return dir, nil
	}
	return os.Getwd()
}

func outside() (*environment, error) {
	dir, err := workingDir()
	if err != nil {
		return nil, err
	}
	w := &environment{
		args: os.Args[1:], env: os.Environ(), dir: dir,
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		now: time.Now, random: rand.Float64, token: cryptorand.Text,
		pid: os.Getpid(), session: sessionID, leader: leader,
		stdinTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		stdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		stderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		version:        buildVersion(),
		patience:       hookPatience,
	}
	w.inPager = w.startedInPager(os.Stdout)
	w.stdoutTerminal = w.stdoutTerminal || w.inPager
	switch {
	case w.stderrTerminal, w.inPager:
		w.stderr = render.NewTerminal(os.Stderr, true)
	case w.mayBeLog(w.stderr):
		w.stderr = render.NewForgeLog(os.Stderr)
	}
	if w.stdoutTerminal {
		w.stdout = render.NewTerminal(os.Stdout, false)
		if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			w.width = width
		} else if width, err := strconv.Atoi(w.getenv("COLUMNS")); err == nil {
			w.width = width // as git found it
		}
	}
	return w, nil
}

// startedInPager reports whether git has put a pager between the program and the terminal, as for
// git -p and pager.jp. What git itself calls then, such as textconv, writes to git.
func (w *environment) startedInPager(out *os.File) bool {
	inUse, _ := strconv.ParseBool(w.getenv("GIT_PAGER_IN_USE"))
	if !inUse || len(w.args) == 0 || calledByGit(w.args[0]) {
		return false
	}
	info, err := out.Stat()
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

// unwrapped returns a standard stream as other programs get it: the terminal itself.
func unwrapped(w io.Writer) io.Writer {
	if t, ok := w.(*render.Terminal); ok {
		return t.Unwrap()
	}
	return w
}

// getenv returns the value of an environment variable, "" when it is unset.
func (w *environment) getenv(name string) string {
	value, _ := w.lookup(name)
	return value
}

// lookup returns the value of an environment variable, and whether it is set.
func (w *environment) lookup(name string) (string, bool) {
	for i := len(w.env) - 1; i >= 0; i-- {
		if value, ok := cutEnv(w.env[i], name); ok {
			return value, true
		}
	}
	return "", false
}

func cutEnv(entry, name string) (string, bool) {
	if len(entry) > len(name) && entry[:len(name)] == name && entry[len(name)] == '=' {
		return entry[len(name)+1:], true
	}
	return "", false
}

// device opens the terminal. GIT_TERMINAL_PROMPT=0 means to git, and to us, that there is no one to
// answer.
func (w *environment) device() (io.ReadWriteCloser, error) {
	if w.getenv("GIT_TERMINAL_PROMPT") == "0" {
		return nil, errors.New("GIT_TERMINAL_PROMPT is 0")
	}
	return trust.Terminal()
}
