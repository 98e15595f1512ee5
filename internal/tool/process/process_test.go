//go:build unix

package process_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/process"
)

func launcher() process.Launcher {
	return process.Launcher{
		Env:     []string{"PATH=" + os.Getenv("PATH"), "A=1"},
		Environ: []string{"WANTED=w", "SECRET=s"}, Grace: 200 * time.Millisecond,
	}
}

func sh(script string) tool.Command {
	return tool.Command{Program: "sh", Args: []string{"-c", script}}
}

func run(ctx context.Context, c tool.Command) error {
	p, err := launcher().Start(ctx, c)
	if err != nil {
		return err
	}
	return p.Wait()
}

func TestOutputEnvironmentAndCode(t *testing.T) {
	var out bytes.Buffer
	c := sh("echo $A-$WANTED-$SECRET; pwd; exit 3")
	c.Dir, c.Variables, c.Stdout = t.TempDir(), []string{"WANTED"}, &out
	var ee *tool.ExitError
	if err := run(t.Context(), c); !errors.As(err, &ee) || ee.Code != 3 {
		t.Errorf("%v", err)
	}
	real, _ := filepath.EvalSymlinks(c.Dir)
	if got := out.String(); got != "1-w-\n"+c.Dir+"\n" && got != "1-w-\n"+real+"\n" {
		t.Errorf("%q", got)
	}
}

func TestTheWholeGroupEnds(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	// A child in the background, and a parent that ignores the signal.
	c := sh("trap '' TERM; sleep 1000 & echo $! > " + pids + ".tmp; echo $$ >> " + pids +
		".tmp; mv " + pids + ".tmp " + pids + "; wait; sleep 1000")
	for s := range strings.FieldsSeq(cancelled(t, launcher(), c, pids)) {
		pid, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		if !gone(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
}

func TestEveryMemberIsToldFirst(t *testing.T) {
	dir := t.TempDir()
	ready, told := filepath.Join(dir, "ready"), filepath.Join(dir, "told")
	c := sh("sh -c 'trap \"echo x > " + told + "; exit\" TERM; echo x > " + ready +
		"; while :; do sleep 0.01; done' & wait")
	l := launcher()
	l.Grace = 5 * time.Second
	var out bytes.Buffer // the child holds it open, so that Wait waits for it
	c.Stdout = &out
	cancelled(t, l, c, ready)
	waitForFile(t, told)
}

// TestGroupsAreKilledAtOnce checks how a program ends its groups when it cannot wait for them.
func TestGroupsAreKilledAtOnce(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	c := sh("trap '' TERM HUP INT; sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' & echo $! > " +
		pids + ".tmp; mv " + pids + ".tmp " + pids + "; wait; sleep 1000")
	l := launcher()
	heard := false
	l.Groups = &process.Groups{Before: func() { heard = true }}
	p, err := l.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(waitForFile(t, pids)))
	if err != nil {
		t.Fatal(err)
	}
	if !heard {
		t.Error("a program was started before anybody would end it")
	}
	l.Groups.Kill()
	var ee *tool.ExitError
	if err := p.Wait(); !errors.As(err, &ee) {
		t.Errorf("%v", err)
	}
	if !gone(child) {
		t.Errorf("process %d still runs", child)
	}
}

// TestMembersHaveTheGraceOfTheirLeader checks that a member that takes longer to end than the
// leader of its group is not killed within the grace period.
func TestMembersHaveTheGraceOfTheirLeader(t *testing.T) {
	dir := t.TempDir()
	ready, done := filepath.Join(dir, "ready"), filepath.Join(dir, "done")
	c := sh("sh -c 'trap \"sleep 0.3; echo x > " + done + "; exit\" TERM; echo x > " + ready +
		"; while :; do sleep 0.01; done' & wait")
	l := launcher()
	l.Grace = 10 * time.Second
	cancelled(t, l, c, ready) // no pipe is open that Wait would wait for
	if _, err := os.Stat(done); err != nil {
		t.Errorf("it could not end in order: %v", err)
	}
}

// cancelled starts a program, cancels it once a file is there, and returns the content of the file.
func cancelled(t *testing.T, l process.Launcher, c tool.Command, name string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := l.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	data := waitForFile(t, name)
	cancel()
	if err := p.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	return data
}

func waitForFile(t *testing.T, name string) string {
	t.Helper()
	for range 6000 {
		if data, err := os.ReadFile(name); err == nil {
			return string(data)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the program did not start")
	return ""
}

// gone reports whether a process has ended, which a zombie has.
func gone(pid int) bool {
	for range 6000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if s := strings.TrimSpace(string(out)); s == "" || s[0] == 'Z' {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func TestWhatIsLeftBehindDoesNotHoldUs(t *testing.T) {
	var out bytes.Buffer
	c := sh("sleep 600 & echo $!")
	c.Stdout = &out
	err := run(t.Context(), c)
	pid, numErr := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil || numErr != nil {
		t.Fatalf("%q (%v, %v)", out.String(), err, numErr)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("we waited for what was left behind: %v", err)
	}
}

func TestChecksum(t *testing.T) {
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skip(err)
	}
	sum := sha256.Sum256(data)
	for checksum, ok := range map[string]bool{
		"sha256:" + hex.EncodeToString(sum[:]): true,
		"sha256:00":                            false,
		"sha1:00":                              false,
		"md5:00":                               false,
	} {
		c := sh("exit 0")
		c.Checksum = checksum
		if err := run(t.Context(), c); (err == nil) != ok {
			t.Errorf("%s: %v", checksum, err)
		}
	}
}

func TestNoSuchProgram(t *testing.T) {
	if _, err := launcher().Start(t.Context(), tool.Command{Program: "no-such-program-here"}); err == nil {
		t.Error("started")
	}
}

func TestMinimal(t *testing.T) {
	got := process.Minimal([]string{
		"PATH=p", "LC_ALL=C", "ANTHROPIC_API_KEY=k", "HOME=h", "AWS_SECRET=x", "Path=q", "broken",
	})
	if s := strings.Join(got, " "); s != "PATH=p LC_ALL=C HOME=h Path=q" {
		t.Errorf("%q", s)
	}
}
