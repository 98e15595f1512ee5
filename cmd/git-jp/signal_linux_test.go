package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/scripts"
)

// TestOneSignalEndsAnyLoop sends one signal to commands in the middle of long work. The signal ends
// them: not later, when the loop is over, and not with their own exit code.
func TestOneSignalEndsAnyLoop(t *testing.T) {
	// The tests may run with a signal ignored, as under nohup, and commands would ignore it too.
	obeyed := make(chan os.Signal, 1)
	signal.Notify(obeyed, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(obeyed)
	r := gittest.Repo(t)
	bigWorkspace(t, r.Dir)
	for _, args := range [][]string{
		{"check", "--worktree"},
		{"ls", "--json"},
		{"stats", "17000000001"},
		{"export", "17000000001"},
		{"gc", "--dry-run", "--grace", "0"},
		{"grep", "no such text"},
		{"print", "17000000001"},
	} {
		t.Run(args[0], func(t *testing.T) {
			for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
				if s != syscall.SIGTERM && args[0] != "stats" {
					continue
				}
				if got := endedBy(t, r, s, args...); got != s {
					t.Errorf("%v ended it by %v", s, got)
				}
			}
		})
	}
}

// bigWorkspace makes conversations that take every command long.
func bigWorkspace(t *testing.T, root string) {
	t.Helper()
	files := scripts.Conversation("big", []string{"40000*a result of some length, so that there is something to read"})
	small := scripts.Conversation("small", []string{"a"})
	for i := range 1000 {
		dir := filepath.Join(root, ".jp", "conversations", strconv.Itoa(17000000001+i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		files = small
	}
	if err := os.WriteFile(filepath.Join(root, ".jp", ".id"), []byte("ab12c"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// endedBy runs a command until it has computed for a while, or blocks because its output is not
// read. Then it sends one signal, and returns the signal that ended the command.
func endedBy(t *testing.T, r *gittest.Repository, s syscall.Signal, args ...string) syscall.Signal {
	t.Helper()
	cmd := exec.Command("git-jp", args...)
	cmd.Dir, cmd.Env = r.Dir, append(r.Env, "XDG_DATA_HOME="+t.TempDir())
	unread, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	cmd.Stdout = out
	if err := errors.Join(cmd.Start(), out.Close()); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	for i := 0; i < 2000 && computed(cmd.Process.Pid) < 5; i++ {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	var ee *exec.ExitError
	if !errors.As(err, &ee) {
		t.Fatalf("it was done before the signal came: %v", err)
	}
	status, ok := ee.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		t.Errorf("%v", err)
	}
	return status.Signal()
}

// computed returns how long a process has had the processor, in hundredths of a second; a very long
// time for one that has ended.
func computed(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 1 << 20
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 || fields[0] == "Z" {
		return 1 << 20
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return user + system
}
