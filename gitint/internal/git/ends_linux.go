package git

import (
	"os/exec"
	"syscall"
)

// endsWithUs makes git end when this process ends, however that happens. A signal to this process
// alone, as from a supervisor, would leave a git that waits for a remote behind. Only Linux does
// that, and it counts the thread that started git: no goroutine may end with its thread.
func endsWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
