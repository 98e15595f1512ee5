package scripts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/git-jp/git-jp/internal/ask"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// dialogue is the script command
//
//	dialogue FILE PROGRAM [ARG...]
//
// It runs the program on its own terminal and plays a person at it. Lines of the file:
//
//	wait PATTERN   until the output since the last wait has it
//	type TEXT      and Enter
//	key TEXT       without Enter
//	end TEXT       and Ctrl-D until the line is at its end
//	press          Ctrl-C
//	free           interrupts the process that holds a conversation
//	exit CODE      the expected exit code, 0 by default
//
// The output is in the file screen. The terminal has $COLUMNS columns, or 80. When the program
// ends, the terminal must be in its original mode.
func dialogue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: dialogue FILE PROGRAM [ARG...]")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	columns, err := strconv.Atoi(cmp.Or(ts.Getenv("COLUMNS"), "80"))
	ts.Check(err)
	master, slave, err := openPTY(uint16(columns))
	ts.Check(err)
	defer func() { _ = master.Close() }()
	before := terminalMode(ts, master)
	program, err := lookPath(ts, args[1])
	ts.Check(err)
	cmd := exec.Command(program, args[2:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), scriptEnv(ts)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	ts.Check(slave.Close())
	v := &shownTerminal{over: make(chan struct{})}
	go v.read(master)
	want, playErr := v.play(ts.MkAbs("."), master, lines)
	if playErr != nil {
		_ = cmd.Process.Kill()
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
	case <-time.After(dialogueWait):
		_ = cmd.Process.Kill()
		playErr = errors.Join(playErr, errors.New("the program does not end"))
	}
	ts.Check(os.WriteFile(ts.MkAbs("screen"), v.ended(), 0o644))
	if playErr != nil {
		ts.Fatalf("%v; the screen has\n%s", playErr, v.ended())
	}
	got := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
		if s, ok := failed.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			got = 128 + int(s.Signal())
		}
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d; the screen has\n%s", got, want, v.ended())
	}
	if after := terminalMode(ts, master); after != before {
		ts.Fatalf("the terminal is left with the mode %+v, it had %+v", after, before)
	}
}

const dialogueWait = 20 * time.Second

// scriptEnv returns the part of the script's environment for programs on a terminal.
func scriptEnv(ts *testscript.TestScript) []string {
	env := []string{"GIT_TERMINAL_PROMPT=1"}
	for _, name := range []string{
		"HOME", "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "GIT_CONFIG_NOSYSTEM",
		"GIT_CONFIG_GLOBAL", "GIT_CEILING_DIRECTORIES", "JP_SESSION", "LC_ALL", "TERM", "GORACE",
		"GIT_EDITOR", "GIT_PAGER", "NO_COLOR", "WORK", "TMPDIR",
	} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), ":") {
		path := dir + "/" + name
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("no program %q", name)
}

// terminalMode returns how a terminal reads input: by lines or by keys, with echo or without.
func terminalMode(ts *testscript.TestScript, f *os.File) unix.Termios {
	conn, err := f.SyscallConn()
	ts.Check(err)
	var mode *unix.Termios
	ts.Check(conn.Control(func(fd uintptr) {
		mode, err = unix.IoctlGetTermios(int(fd), unix.TCGETS)
	}))
	ts.Check(err)
	return *mode
}

func openPTY(columns uint16) (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var n int
	conn, err := master.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	control := func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
		if err == nil {
			err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
		}
	}
	if e := conn.Control(control); e != nil || err != nil {
		return nil, nil, errors.Join(e, err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	return master, slave, err
}

// A shownTerminal is the output on a terminal.
type shownTerminal struct {
	mu   sync.Mutex
	data []byte
	at   int // the match of the last wait ends here
	over chan struct{}
}

func (v *shownTerminal) read(f *os.File) {
	defer close(v.over)
	b := make([]byte, 4096)
	for {
		n, err := f.Read(b)
		v.mu.Lock()
		v.data = append(v.data, b[:n]...)
		v.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// ended returns the output after the program has ended. The rest of it may still be coming, until
// no process has the terminal open.
func (v *shownTerminal) ended() []byte {
	select {
	case <-v.over:
	case <-time.After(dialogueWait):
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return bytes.Clone(v.data)
}

func (v *shownTerminal) play(dir string, f *os.File, lines []string) (exit int, err error) {
	for _, line := range lines {
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "wait":
			err = v.wait(rest)
		case "type":
			_, err = f.WriteString(rest + "\n")
		case "key":
			_, err = f.WriteString(rest)
		case "end":
			_, err = f.WriteString(rest + "\x04\x04")
		case "press":
			time.Sleep(2 * ask.SamePress) // as fast as a person
			_, err = f.Write([]byte{3})
		case "free":
			var pid int
			if pid, err = lockHolder(dir); err == nil {
				err = syscall.Kill(pid, syscall.SIGINT)
			}
		case "exit":
			exit, err = strconv.Atoi(rest)
		case "#", "":
		default:
			err = fmt.Errorf("unknown line %q", line)
		}
		if err != nil {
			return 0, err
		}
	}
	return exit, nil
}

func (v *shownTerminal) wait(pattern string) error {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(dialogueWait); time.Now().Before(deadline); {
		v.mu.Lock()
		at := re.FindIndex(v.data[v.at:])
		if at != nil {
			v.at += at[1]
		}
		v.mu.Unlock()
		if at != nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("%q is never shown", pattern)
}

// lockHolder returns the process that holds a conversation of the script.
func lockHolder(dir string) (int, error) {
	var content struct {
		PID int `json:"pid"`
	}
	var err error
	for _, pattern := range []string{"/.jp/locks/*.lock", "/.home/.local/share/jp/workspace/*/locks/*.lock"} {
		names, _ := filepath.Glob(dir + pattern)
		for _, name := range names {
			var data []byte
			if data, err = os.ReadFile(name); err == nil {
				err = json.Unmarshal(data, &content)
			}
		}
	}
	if content.PID == 0 {
		err = errors.Join(err, errors.New("nobody holds a conversation"))
	}
	return content.PID, err
}
