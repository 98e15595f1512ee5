package main

import (
	"os"
	"os/exec"
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
