//go:build unix

package process

import (
	"os/exec"
	"syscall"
	"time"
)

// group gives the process a group of its own, which is asked to end with it.
func group(cmd *exec.Cmd, told func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		told()
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
}

// endGroup waits until a group that was asked to end is gone, and kills the rest of it after the
// grace period; a group that had ended by itself gets no grace. Its leader has been waited for, but
// no new group can get its number while a member lives.
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
