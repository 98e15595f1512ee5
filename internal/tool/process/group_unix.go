//go:build unix

package process

import (
	"os/exec"
	"syscall"
	"time"
)

// group gives the process a group of its own, which is told to end with it.
func group(cmd *exec.Cmd, told func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		told()
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
}

// endGroup waits until the group is gone, which was told to end, and kills what is left of it
// when its grace is over; a group that had ended before it was told has none. Its leader has
// been waited for, but while a member lives no other group can have its number.
func endGroup(cmd *exec.Cmd, over <-chan time.Time) {
	const step = 5 * time.Millisecond
	for over != nil {
		if syscall.Kill(-cmd.Process.Pid, 0) != nil {
			return
		}
		select {
		case <-over:
			over = nil
		case <-time.After(step):
		}
	}
	killGroup(cmd)
}

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
