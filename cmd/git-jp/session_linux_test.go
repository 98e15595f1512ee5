package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestLeader: the age of a process is known to a second, and that there is none.
func TestLeader(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	age, alive := leader(cmd.Process.Pid)
	if most := time.Since(before) + time.Second; !alive || age <= 0 || age > most {
		t.Errorf("%v, %v, want at most %v", age, alive, most)
	}
	if own, alive := leader(os.Getpid()); !alive || own+time.Second < age {
		t.Errorf("this process: %v, %v; its child: %v", own, alive, age)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, alive := leader(cmd.Process.Pid); alive {
		t.Error("the process has ended")
	}
}

// TestLeaderInContainer: LXC shows the time since the container began, but not in the times of
// processes. One that seems to begin after now would end what is active in its terminal.
func TestLeaderInContainer(t *testing.T) {
	const inside = "GIT_JP_TEST_PARENT"
	if parent, err := strconv.Atoi(os.Getenv(inside)); err == nil {
		older, _ := leader(parent)
		if own, _ := leader(os.Getpid()); older <= own {
			t.Errorf("this process: %v; its parent: %v", own, older)
		}
		return
	}
	up := filepath.Join(t.TempDir(), "uptime")
	if err := os.WriteFile(up, []byte("1.00 1.00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mount := []string{"-rm", "mount", "--bind", up, "/proc/uptime"}
	if out, err := exec.CommandContext(t.Context(), "unshare", mount...).CombinedOutput(); err != nil {
		t.Skipf("no mount here: %v, %s", err, out)
	}
	time.Sleep(50 * time.Millisecond) // times of processes are in hundredths of a second
	cmd := exec.CommandContext(t.Context(), "unshare", "-rm", "sh", "-c",
		`mount --bind "$1" /proc/uptime && exec "$0" -test.run "^$2\$"`, os.Args[0], up, t.Name())
	cmd.Env = append(os.Environ(), inside+"="+strconv.Itoa(os.Getpid()))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
